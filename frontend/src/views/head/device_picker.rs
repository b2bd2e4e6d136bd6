//! Choice of a file's device: tabs for a few devices, a select box for many.

use super::figures_model::device_name;
use crate::components::controls::tab_keys;
use crate::hooks::use_file;
use crate::state::{FileAction, ReadyFile};
use shared::base::format;
use web_sys::HtmlSelectElement;
use yew::prelude::*;

/// Maximum number of devices shown as tabs; more do not fit.
const TABS_AT_MOST: usize = 8;

#[derive(Clone, PartialEq, Properties)]
pub struct DevicePickerProps {
    pub file: ReadyFile,
}

/// Shows the devices of a file; renders nothing if there is only one.
#[component]
pub fn DevicePicker(props: &DevicePickerProps) -> Html {
    let on_choose = use_file().acting(FileAction::ChooseDevice);
    let are_all = use_state_eq(|| false);
    let count = props.file.summary.devices.len() as u32;
    let used = props.file.used_devices();
    let unused = count as usize - used.len();
    let listed = if *are_all { (0..count).collect() } else { used };
    if count <= 1 {
        return Html::default();
    }
    let onclick = {
        let are_all = are_all.clone();
        Callback::from(move |_: MouseEvent| are_all.set(!*are_all))
    };
    html! {
        <div class="devices">
            { if listed.len() <= TABS_AT_MOST { tabs(&props.file, &listed, &on_choose) } else { list(&props.file, &listed, &on_choose) } }
            if unused > 0 {
                <button type="button" class="button quiet unused" aria-expanded={are_all.to_string()} {onclick}
                    title="Devices without events or memory">
                    { if *are_all { "Hide unused".to_owned() } else { format!("{unused} unused") } }
                </button>
            }
        </div>
    }
}

fn tabs(file: &ReadyFile, listed: &[u32], on_choose: &Callback<u32>) -> Html {
    let place_of = |device: u32| listed.iter().position(|&other| other == device).unwrap_or(0);
    let on_place = {
        let listed = listed.to_vec();
        on_choose.reform(move |place: u32| listed[place as usize])
    };
    let onkeydown = tab_keys(place_of(file.device) as u32, listed.len() as u32, on_place);
    let tab = |&position: &u32| {
        let is_chosen = position == file.device;
        let is_failed = file.is_out_of_memory(position as usize);
        let onclick = on_choose.reform(move |_: MouseEvent| position);
        html! {
            <button type="button" role="tab" class={classes!("device-tab", is_failed.then_some("failed"))}
                data-device={position.to_string()} data-tab={place_of(position).to_string()}
                aria-selected={is_chosen.to_string()} tabindex={if is_chosen { "0" } else { "-1" }} {onclick}>
                <span class="device-name">{ device_name(file.summary.devices[position as usize].index) }</span>
                <span class="device-peak numbers">{ peak_text(file, position) }</span>
            </button>
        }
    };
    html! {
        <div class="device-tabs" role="tablist" aria-label="Devices" {onkeydown}>{ for listed.iter().map(tab) }</div>
    }
}

fn list(file: &ReadyFile, listed: &[u32], on_choose: &Callback<u32>) -> Html {
    let positions = listed.to_vec();
    let onchange = on_choose.reform(move |event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        usize::try_from(select.selected_index()).map_or(positions[0], |place| positions[place])
    });
    let option = |&position: &u32| {
        let name = device_name(file.summary.devices[position as usize].index);
        html! {
            <option selected={position == file.device}>{ format!("{name} · {}", peak_text(file, position)) }</option>
        }
    };
    html! {
        <label class="device-list">
            <span>{ "Device" }</span>
            <select {onchange}>{ for listed.iter().map(option) }</select>
        </label>
    }
}

fn peak_text(file: &ReadyFile, position: u32) -> String {
    let peak = match &file.figures[position as usize] {
        Some(figures) => format!("peak live {}", format::bytes(figures.summary.peak_live_bytes)),
        None => "…".to_owned(),
    };
    if file.is_out_of_memory(position as usize) { format!("{peak} · out of memory") } else { peak }
}
