//! Says all the time that a part of a file is open.

use super::icon::{Icon, IconName};
use crate::worker::DeviceOutline;
use shared::base::format;
use yew::prelude::*;

/// What the [`PartBar`] shows and tells.
#[derive(Clone, PartialEq, Properties)]
pub struct PartBarProps {
    /// The devices of the file.
    pub devices: Vec<DeviceOutline>,
    /// Other events are to be chosen.
    pub on_choose: Callback<()>,
    /// The whole file is to be opened.
    pub on_all: Callback<()>,
}

/// Which events are open, and how to see others; nothing for a whole file.
#[component]
pub fn PartBar(props: &PartBarProps) -> Html {
    let open = props.devices.iter().find_map(|device| Some((device, device.part?)));
    let Some((device, part)) = open else { return Html::default() };
    let end = part.first_event + device.events;
    let text = format!(
        "Events {} to {} of {} on GPU {} are open, counted from 0 here; what was in use before them is one band at the \
         bottom",
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
