//! Bar that tells, as long as only a part of a file is open, which events those are.

use crate::ask::DeviceOutline;
use crate::components::icon::{Icon, IconName};
use crate::hooks::use_file;
use shared::base::format;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct PartBarProps {
    pub devices: Vec<DeviceOutline>,
}

/// Shows which events are open, and buttons to open others; renders nothing for a whole file.
#[component]
pub fn PartBar(props: &PartBarProps) -> Html {
    let file = use_file();
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
    let on_all = {
        let file = file.clone();
        move |_: MouseEvent| file.open_all()
    };
    html! {
        <p class="origin part-bar" data-part-bar="">
            <Icon name={IconName::Info} /><span>{ text }</span>
            <button type="button" class="button" onclick={move |_: MouseEvent| file.choose_part()}>
                { "Other events…" }
            </button>
            <button type="button" class="button" onclick={on_all}>{ "Open all" }</button>
        </p>
    }
}
