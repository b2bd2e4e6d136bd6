//! Comparison of two moments: choice of both sides, their curves, and the difference in words and as a table.

use super::hook::{Comparable, Comparison, DeviceOf, Place, find_allocation, use_curve, use_diff, use_steps};
use super::model::{MomentChoice, default_sides, moment_choices, side_name, sides, step_choices};
use super::table::Table;
use crate::ask::differences::{equal_text, total_text};
use crate::ask::{CompareSide, CurveData, DeviceFigures, Hit, SheetOf, StepData, side_of_value, side_value};
use crate::components::{Picture, StackView, by_position, options};
use crate::draw::curves::Curves;
use crate::hooks::{FileHandle, Peer, use_file, use_shown};
use crate::state::{Against, Choice, CompareChoice, DifferencesChoice, FileAction, Scheme, TimelineCommand};
use crate::views::export::{SheetButtons, use_easel};
use crate::views::head::model::device_name;
use shared::analysis::ProfileFrame;
use shared::base::format;
use shared::report::Frame;
use std::rc::Rc;
use web_sys::HtmlSelectElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct MomentsProps {
    pub(super) devices: Vec<Comparable>,
    pub(super) switches: Html,
}

#[component]
pub(super) fn Moments(props: &MomentsProps) -> Html {
    let MomentsProps { devices, switches } = props;
    let (file, shown) = (use_file(), use_shown());
    let here = Place { file: file.id, device: shown.ready.device };
    let this_of = DeviceOf { client: file.client.clone(), device: here.device };
    let chosen = shown.ready.choices.compare;
    let there = other_place(devices, here, chosen.against);
    let other_of =
        devices.iter().find(|device| device.place == there).map_or(this_of.clone(), |found| found.of.clone());

    let (this_steps, other_steps) = (use_steps(&this_of), use_steps(&other_of));
    let defaults = this_steps.as_ref().map(|steps| default_sides(here == there, steps.len()));
    let (this, other) = (chosen.this.or(defaults.map(|of| of.0)), chosen.other.or(defaults.map(|of| of.1)));
    // Nothing is compared until the steps are known, because the defaults would be replaced at once.
    let sides = this.zip(other);
    let comparison = use_diff(sides.map(|(this, other)| ((this_of.clone(), this), (other_of.clone(), other))));
    // The last difference stays while another moment is compared, but must not be shown for another device.
    let comparison = comparison.filter(|found| found.of == [this_of.clone(), other_of.clone()]);
    let (this, other) = sides.unwrap_or_default();
    // Steps are drawn over each other; all other moments are drawn on the whole trace.
    let (this_step, other_step) = match (this, other) {
        (CompareSide::Step(this), CompareSide::Step(other)) => (Some(this), Some(other)),
        _ => (None, None),
    };
    let curves = [use_curve(&this_of, this_step), use_curve(&other_of, other_step)]
        .map(|curve| curve.filter(|curve| !curve.bytes.is_empty()));
    let picked = use_state_eq(|| None::<usize>);
    let unpick = picked.setter();
    use_effect_with((here, there, this, other), move |_| unpick.set(None));

    let on_compare = file.choosing(Choice::Compare);
    let on_this = on_compare.reform(move |side| CompareChoice { this: Some(side), ..chosen });
    let on_other = on_compare.reform(move |side| CompareChoice { other: Some(side), ..chosen });
    // A moment of one file means nothing in another, so the other side falls back to its default.
    let on_place = on_compare.reform(move |place: Place| {
        let against = match place.file == here.file {
            true => Against::Device(place.device),
            false => Against::OfFile(place.file, place.device),
        };
        CompareChoice { against: Some(against), other: None, ..chosen }
    });
    let pinned = shown.ready.pinned.as_ref().map(|hit| hit.moment);
    let on_pick = on_pick(&file, [(here, this_of), (there, other_of)], comparison.clone(), picked.setter());
    let DifferencesChoice { by, sort, filter } = shown.ready.choices.differences.clone();
    let files = comparison.clone().map(|found| {
        let of = move |()| {
            let other = Box::new(found.other.clone());
            SheetOf::Differences { side: this, other, by, sort, filter: filter.clone() }
        };
        html! { <SheetButtons table="differences" {of} /> }
    });
    let names = [(here, this), (there, other)].map(|(place, side)| name(devices, place, side, here == there));
    html! {
        <div class="compare" data-compare="" data-stacks={comparison.as_ref().map(|found| found.diff.found.rows.len().to_string())}>
            <div class="compare-head">
                { switches.clone() }
                <div class="compare-pick">
                    <span>{ "This" }</span>
                    <SidePick label="Moment of this side" figures={Some(shown.device.clone())} steps={this_steps} {pinned}
                        chosen={this} on_choose={on_this} />
                </div>
                <div class="compare-pick">
                    <span>{ "against" }</span>
                    if devices.len() > 1 {
                        <DevicePick devices={devices.clone()} chosen={there} shown={here} on_choose={on_place} />
                    }
                    <SidePick label="Moment of the other side" figures={figures_of(&shown.peers, there)} steps={other_steps}
                        pinned={(here == there).then_some(pinned).flatten()}
                        chosen={other} on_choose={on_other} />
                </div>
            </div>
            <div class="compare-body">
                <Sum {names} {curves} comparison={comparison.clone()}
                    stack={picked_stack(comparison.as_ref(), *picked)} />
                <Table {comparison} {on_pick} files={files.unwrap_or_default()} />
            </div>
        </div>
    }
}

/// Returns the device of the other side.
///
/// That is the chosen device if its file is still open, else the device with the same position in another file, else
/// any device of another file, else this device itself.
fn other_place(devices: &[Comparable], here: Place, chosen: Option<Against>) -> Place {
    let chosen = chosen.map(|against| match against {
        Against::Device(device) => Place { file: here.file, device },
        Against::OfFile(file, device) => Place { file, device },
    });
    let is_open = |place: &Place| devices.iter().any(|device| device.place == *place);
    let others = || devices.iter().map(|device| device.place).filter(|place| place.file != here.file);
    let of_other_file = || others().find(|place| place.device == here.device).or_else(|| others().next());
    chosen.filter(is_open).or_else(of_other_file).unwrap_or(here)
}

fn figures_of(peers: &[Peer], place: Place) -> Option<Rc<DeviceFigures>> {
    let peer = peers.iter().find(|peer| peer.id == place.file)?;
    peer.file.figures.get(place.device as usize)?.clone()
}

/// Returns a side's label: its moment, with the file's name if the two devices differ.
fn name(devices: &[Comparable], place: Place, side: CompareSide, is_same: bool) -> String {
    let found = devices.iter().find(|device| device.place == place).filter(|_| !is_same);
    let side = side_name(side);
    found.map_or_else(|| side.clone(), |device| format!("{}, {side}", device.file))
}

/// Returns the stack of a picked row that only the other side has, because this side has nothing to pin.
fn picked_stack(comparison: Option<&Rc<Comparison>>, picked: Option<usize>) -> Option<Rc<Vec<Frame>>> {
    let comparison = comparison?;
    let row = comparison.diff.found.rows.get(picked?)?;
    let stack = row.before.filter(|stack| stack.row < comparison.other.rows.len())?;
    let frame = |frame: &ProfileFrame| {
        let ProfileFrame { name, filename, line } = frame.clone();
        Frame { name, filename, line, fx: None }
    };
    Some(Rc::new(comparison.other.frames_of(stack.row).map(frame).collect()))
}

/// Pins the largest allocation of a row, or else marks the row as picked.
///
/// The allocation is looked up on this side, then on the other one if both sides are the same device.
fn on_pick(
    file: &FileHandle,
    [this, other]: [(Place, DeviceOf); 2],
    comparison: Option<Rc<Comparison>>,
    picked: UseStateSetter<Option<usize>>,
) -> Callback<usize> {
    let file = file.clone();
    Callback::from(move |position: usize| {
        let Some(Comparison { diff, .. }) = comparison.as_deref() else { return };
        let Some(row) = diff.found.rows.get(position) else { return };
        let found = row.after.map(|stack| (stack.largest, diff.moment));
        let of_other = row.before.filter(|_| this.0 == other.0).map(|stack| (stack.largest, diff.other_moment));
        let found = found.or(of_other);
        picked.set(found.is_none().then_some(position));
        if let Some((key, moment)) = found {
            let file = file.clone();
            find_allocation(this.1.clone(), key, moment, move |hit: Hit| {
                file.act(FileAction::Pin(Some(hit)));
                file.command(TimelineCommand::JumpTo { moment });
            });
        }
    })
}

#[derive(Clone, PartialEq, Properties)]
struct SidePickProps {
    label: &'static str,
    figures: Option<Rc<DeviceFigures>>,
    steps: Option<Rc<Vec<StepData>>>,
    pinned: Option<u32>,
    chosen: CompareSide,
    on_choose: Callback<CompareSide>,
}

#[component]
fn SidePick(props: &SidePickProps) -> Html {
    let on_choose = props.on_choose.clone();
    let onchange = move |event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        side_of_value(&select.value()).into_iter().for_each(|side| on_choose.emit(side));
    };
    let chosen = side_value(props.chosen);
    let option = |(value, label): MomentChoice| {
        let selected = value == chosen;
        html! { <option key={value.clone()} {value} {selected}>{ label }</option> }
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
struct DevicePickProps {
    devices: Vec<Comparable>,
    chosen: Place,
    shown: Place,
    on_choose: Callback<Place>,
}

#[component]
fn DevicePick(props: &DevicePickProps) -> Html {
    let places: Vec<Place> = props.devices.iter().map(|device| device.place).collect();
    let select = use_node_ref();
    let chosen = places.iter().position(|place| *place == props.chosen);
    let onchange = by_position(places.len(), &props.on_choose.reform(move |position: usize| places[position]));
    use_effect({
        let select = select.clone();
        move || {
            let position = chosen.map_or(-1, |position| position as i32);
            select.cast::<HtmlSelectElement>().iter().for_each(|select| select.set_selected_index(position));
        }
    });
    let name = |device: &Comparable| {
        let file = if device.place == props.shown { "this" } else { &device.file };
        AttrValue::from(format!("{file}, {}", device_name(device.index)))
    };
    let names: Vec<AttrValue> = props.devices.iter().map(name).collect();
    html! {
        <select ref={select} {onchange} class="compare-device" aria-label="File of the other side">
            { options(&names, chosen.unwrap_or(usize::MAX)) }
        </select>
    }
}

/// Properties of [`Sum`]; pairs hold this side first, then the other one.
#[derive(Clone, PartialEq, Properties)]
struct SumProps {
    names: [String; 2],
    curves: [Option<Rc<CurveData>>; 2],
    comparison: Option<Rc<Comparison>>,
    /// Stack of a picked row that only the other side has: its frames, innermost first.
    stack: Option<Rc<Vec<Frame>>>,
}

#[component]
fn Sum(props: &SumProps) -> Html {
    let scheme = use_file().scheme;
    let curves = use_curves(props, scheme);
    let draw = use_callback((curves.clone(), scheme), |size, (curves, scheme)| curves.sketch(size, scheme.theme()));
    let diff = props.comparison.as_ref().map(|comparison| &comparison.diff);
    let [this, other] = &props.names;
    let line = |side: &'static str, name: &str, bytes: Option<u64>| {
        let size = bytes.map_or_else(|| "…".to_owned(), format::bytes);
        html! {
            <li>
                <svg class={classes!("compare-key", side)} viewBox="0 0 18 10" aria-hidden="true"><path d="M0 5H18" /></svg>
                <span>{ name }</span><strong>{ size }</strong>
            </li>
        }
    };
    html! {
        <section class="compare-sum" aria-label="Both sides" tabindex="0">
            if let Some(frames) = &props.stack {
                if frames.is_empty() {
                    <p class="hint">{ "The other side has no stack for this memory" }</p>
                } else {
                    <StackView title="Stack on the other side" frames={frames.clone()} />
                }
            }
            <div class="compare-curves" data-curves={curves.chart.curves.len().to_string()}>
                <Picture {draw} label="Live bytes of both sides, from the start to the end of each" />
            </div>
            <ul class="compare-legend numbers">
                { line("this", this, diff.map(|diff| diff.found.total.after_bytes)) }
                { line("other", other, diff.map(|diff| diff.found.total.before_bytes)) }
            </ul>
            <p class="compare-total numbers" role="status">{ diff.map_or_else(|| "Comparing…".to_owned(), total_text) }</p>
            if let Some(text) = diff.and_then(equal_text) { <p class="hint numbers">{ text }</p> }
        </section>
    }
}

/// Returns the chart of both sides, which the dock can save once both have arrived.
#[hook]
fn use_curves(props: &SumProps, scheme: Scheme) -> Rc<Curves> {
    let SumProps { names, curves, comparison, .. } = props.clone();
    let moments = comparison.map(|found| [found.diff.moment, found.diff.other_moment]);
    let is_whole = moments.is_some() && curves.iter().all(Option::is_some);
    let chart = use_memo((names, curves, moments, scheme), |(names, [this, other], moments, scheme)| {
        sides(names, [this.as_deref(), other.as_deref()], *moments, scheme.theme())
    });
    let easel = use_easel();
    use_effect_with((easel, chart.clone(), is_whole, scheme), |(easel, chart, is_whole, scheme)| {
        if *is_whole {
            easel.put(0, chart.saved(scheme.theme()));
        }
        let easel = easel.clone();
        move || easel.clear(0)
    });
    chart
}
