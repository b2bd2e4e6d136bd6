//! The devices of a file: tabs where they are few, a list where they are many.

use super::tab_keys::tab_keys;
use crate::state::ReadyFile;
use crate::view::figures::device_name;
use crate::worker::DeviceOutline;
use shared::base::format;
use web_sys::HtmlSelectElement;
use yew::prelude::*;

/// More devices than this don't fit as tabs.
const TABS_AT_MOST: usize = 8;

/// What the [`DevicePicker`] shows and tells.
#[derive(Clone, PartialEq, Properties)]
pub struct DevicePickerProps {
    /// The file.
    pub file: ReadyFile,
    /// A device was chosen, by position.
    pub on_choose: Callback<u32>,
}

/// The devices of a file; nothing where there is only one.
#[component]
pub fn DevicePicker(props: &DevicePickerProps) -> Html {
    match props.file.summary.devices.len() {
        0 | 1 => Html::default(),
        2..=TABS_AT_MOST => tabs(props),
        _ => list(props),
    }
}

fn tabs(props: &DevicePickerProps) -> Html {
    let devices = &props.file.summary.devices;
    let count = devices.len() as u32;
    let chosen = props.file.device;
    let onkeydown = tab_keys(chosen, count, props.on_choose.clone());
    let tab = |(position, device): (usize, &DeviceOutline)| {
        let position = position as u32;
        let is_chosen = position == chosen;
        let onclick = props.on_choose.reform(move |_: MouseEvent| position);
        html! {
            <button type="button" role="tab" class="device-tab" data-device={position.to_string()} data-tab={position.to_string()}
                aria-selected={is_chosen.to_string()} tabindex={if is_chosen { "0" } else { "-1" }} {onclick}>
                <span class="device-name">{ device_name(device.index) }</span>
                <span class="device-peak numbers">{ peak_text(&props.file, position) }</span>
            </button>
        }
    };
    html! {
        <div class="device-tabs" role="tablist" aria-label="Devices" {onkeydown}>
            { for devices.iter().enumerate().map(tab) }
        </div>
    }
}

fn list(props: &DevicePickerProps) -> Html {
    let onchange = props.on_choose.reform(|event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        u32::try_from(select.selected_index()).unwrap_or(0)
    });
    let option = |(position, device): (usize, &DeviceOutline)| {
        let position = position as u32;
        let text = format!("{}, {}", device_name(device.index), peak_text(&props.file, position));
        html! { <option selected={position == props.file.device}>{ text }</option> }
    };
    html! {
        <label class="device-list">
            <span>{ "Device" }</span>
            <select {onchange}>{ for props.file.summary.devices.iter().enumerate().map(option) }</select>
        </label>
    }
}

fn peak_text(file: &ReadyFile, position: u32) -> String {
    match &file.figures[position as usize] {
        Some(figures) => format!("peak {}", format::bytes(figures.peak_live_bytes)),
        None => "…".to_owned(),
    }
}
