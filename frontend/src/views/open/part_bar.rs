//! Bar that tells, as long as only a part of a file is open, which events those are.

use crate::ask::DeviceOutline;
use crate::components::icon::{Icon, IconName};
use shared::base::format;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct PartBarProps {
    pub devices: Vec<DeviceOutline>,
    /// Called when other events should be chosen.
    pub on_choose: Callback<()>,
    /// Called when the whole file should be opened.
    pub on_all: Callback<()>,
}

/// Shows which events are open, and buttons to open others; renders nothing for a whole file.
#[component]
pub fn PartBar(props: &PartBarProps) -> Html {
    let open = props.devices.iter().find_map(|device| Some((device, device.part?)));
    let Some((device, part)) = open else { return Html::default() };
    let end = part.first_event + device.events;
    let text = format!(
        "Only events {} to {} of the {} events of GPU {} are open, numbered from 0 here. Memory that was live before \
         them is one band at the bottom.",
        format::count(part.first_event),
        format::count(end),
        format::count(part.total_events),
        device.index
    );
    html! {
        <p class="origin part-bar" data-part-bar="">
            <Icon name={IconName::Info} /><span>{ text }</span>
            <button type="button" class="button" onclick={props.on_choose.reform(|_: MouseEvent| ())}>
                { "Other events…" }
            </button>
            <button type="button" class="button" onclick={props.on_all.reform(|_: MouseEvent| ())}>
                { "Open all" }
            </button>
        </p>
    }
}
