//! The lists from which both sides are chosen.

use super::{Comparable, Place};
use crate::view::compare::{Choice, moment_choices, side_of_value, side_value, step_choices};
use crate::view::figures::device_name;
use crate::worker::{CompareSide, DeviceFigures, StepData};
use std::rc::Rc;
use web_sys::HtmlSelectElement;
use yew::prelude::*;

/// What the [`SidePick`] shows and tells.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct SidePickProps {
    /// Which side it is.
    pub(super) label: &'static str,
    /// The figures of its device, once they have come.
    pub(super) figures: Option<Rc<DeviceFigures>>,
    /// The steps of its device, once they were found.
    pub(super) steps: Option<Rc<Vec<StepData>>>,
    /// The moment of the pin on its device.
    pub(super) pinned: Option<u32>,
    /// The chosen moment.
    pub(super) chosen: CompareSide,
    /// Another one was chosen.
    pub(super) on_choose: Callback<CompareSide>,
}

/// The moments of one device: single ones, and steps.
#[component]
pub(super) fn SidePick(props: &SidePickProps) -> Html {
    let on_choose = props.on_choose.clone();
    let onchange = move |event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        side_of_value(&select.value()).into_iter().for_each(|side| on_choose.emit(side));
    };
    let chosen = side_value(props.chosen);
    let option = |choice: Choice| {
        let is_chosen = choice.value == chosen;
        html! { <option key={choice.value.clone()} value={choice.value} selected={is_chosen}>{ choice.label }</option> }
    };
    let figures = props.figures.as_deref().cloned().unwrap_or_default();
    let moments = moment_choices(&figures, props.pinned, props.chosen);
    let steps = props.steps.as_ref().map(|steps| step_choices(steps)).unwrap_or_default();
    let select = use_node_ref();
    // Once somebody has chosen, a list no longer follows the attributes of its entries.
    use_effect({
        let (select, chosen) = (select.clone(), chosen.clone());
        move || select.cast::<HtmlSelectElement>().iter().for_each(|select| select.set_value(&chosen))
    });
    html! {
        <select ref={select} {onchange} aria-label={props.label}>
            { for moments.into_iter().map(option) }
            if !steps.is_empty() {
                <optgroup label="Peaks of steps">{ for steps.into_iter().map(option) }</optgroup>
            }
        </select>
    }
}

/// What the [`DevicePick`] shows and tells.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct DevicePickProps {
    /// The devices.
    pub(super) devices: Vec<Comparable>,
    /// The chosen one.
    pub(super) chosen: Place,
    /// The one that is shown above.
    pub(super) shown: Place,
    /// Another one was chosen.
    pub(super) on_choose: Callback<Place>,
}

/// The devices of all open files.
#[component]
pub(super) fn DevicePick(props: &DevicePickProps) -> Html {
    let places: Vec<Place> = props.devices.iter().map(|device| device.place).collect();
    let on_choose = props.on_choose.clone();
    let onchange = move |event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        let position = usize::try_from(select.selected_index()).ok();
        let place = position.and_then(|position| places.get(position).copied());
        place.into_iter().for_each(|place| on_choose.emit(place));
    };
    let select = use_node_ref();
    let position = props.devices.iter().position(|device| device.place == props.chosen);
    use_effect({
        let select = select.clone();
        move || {
            let position = position.and_then(|position| i32::try_from(position).ok()).unwrap_or(-1);
            select.cast::<HtmlSelectElement>().iter().for_each(|select| select.set_selected_index(position));
        }
    });
    let option = |device: &Comparable| {
        let name = match device.place == props.shown {
            true => format!("this, {}", device_name(device.index)),
            false => format!("{}, {}", device.file, device_name(device.index)),
        };
        html! { <option selected={device.place == props.chosen}>{ name }</option> }
    };
    html! {
        <select ref={select} {onchange} class="compare-device" aria-label="File of the other side">
            { for props.devices.iter().map(option) }
        </select>
    }
}
