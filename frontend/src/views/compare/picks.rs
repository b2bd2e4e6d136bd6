//! Select boxes for the two sides of a comparison.

use super::comparable::{Comparable, Place};
use super::model::{Choice, moment_choices, step_choices};
use crate::ask::{CompareSide, DeviceFigures, StepData, side_of_value, side_value};
use crate::views::head::figures_model::device_name;
use std::rc::Rc;
use web_sys::HtmlSelectElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct SidePickProps {
    /// Accessible name, which says which side it is.
    pub(super) label: &'static str,
    /// Figures of the side's device; `None` until they have arrived.
    pub(super) figures: Option<Rc<DeviceFigures>>,
    /// Steps of the side's device; `None` until they are known.
    pub(super) steps: Option<Rc<Vec<StepData>>>,
    /// Moment of the pinned allocation on the side's device.
    pub(super) pinned: Option<u32>,
    pub(super) chosen: CompareSide,
    pub(super) on_choose: Callback<CompareSide>,
}

/// Offers the moments of one device: single ones, and peaks of steps.
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
    // After a choice by the user, a select box no longer follows the attributes of its options.
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

#[derive(Clone, PartialEq, Properties)]
pub(super) struct DevicePickProps {
    pub(super) devices: Vec<Comparable>,
    pub(super) chosen: Place,
    /// The device shown in the timeline.
    pub(super) shown: Place,
    pub(super) on_choose: Callback<Place>,
}

/// Offers the devices of all open files.
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
