//! Card for choosing which events of a large file to open, with its curve, and the bar that tells which are open.

use super::preview_model::{Preset, dragged, preview, proposed_events, range_text, share_of_plot};
use crate::ask::{DeviceOutline, PartOrder, PreviewData, PreviewDevice};
use crate::components::{IconName, Picture, bound, by_position, choice, click, icon, options, passing, segmented};
use crate::hooks::FileHandle;
use crate::platform::{share_across, size_of_element};
use crate::state::Scheme;
use shared::base::format;
use std::ops::Range;
use std::rc::Rc;
use web_sys::{HtmlElement, HtmlInputElement};
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct PartCardProps {
    pub name: AttrValue,
    pub overview: Rc<PreviewData>,
    pub scheme: Scheme,
    pub on_cancel: Callback<()>,
    /// Called with the events to open, or with `None` to open the whole file.
    pub on_open: Callback<Option<PartOrder>>,
}

#[derive(Clone, PartialEq)]
struct Chosen(Range<u64>);

impl Reducible for Chosen {
    /// New ends: one that is `None` stays as it is by then, as several keys can be pressed between two renderings.
    type Action = (Option<u64>, Option<u64>);

    fn reduce(self: Rc<Self>, (start, end): Self::Action) -> Rc<Self> {
        Rc::new(Self(start.unwrap_or(self.0.start)..end.unwrap_or(self.0.end)))
    }
}

#[component]
pub fn PartCard(props: &PartCardProps) -> Html {
    let devices = &props.overview.devices;
    let most = || (0..devices.len()).rev().max_by_key(|&position| devices[position].events);
    let position = use_state_eq(|| most().unwrap_or(0));
    let device = devices.get(*position).cloned().unwrap_or_default();
    let chosen = use_reducer_eq(|| Chosen(Preset::Last.range(&device, proposed_events(&device))));
    let range = &chosen.0;
    let on_ends = bound(chosen.dispatcher(), move |chosen, ends: (Option<u64>, Option<u64>)| chosen.dispatch(ends));
    let on_range = on_ends.reform(|range: Range<u64>| (Some(range.start), Some(range.end)));
    let handles = (position.setter(), on_range.clone(), props.overview.clone());
    let on_device = bound(handles, |(position, on_range, overview), chosen: usize| {
        let device = &overview.devices[chosen];
        position.set(chosen);
        on_range.emit(Preset::Last.range(device, proposed_events(device)));
    });
    let device_name = |device: &PreviewDevice| {
        AttrValue::from(format!("GPU {}, {}", device.index, format::counted(device.events, "event")))
    };
    let devices: Vec<AttrValue> = props.overview.devices.iter().map(device_name).collect();
    let proposed = proposed_events(&device);
    let preset = |label: &str, preset: Preset| {
        let of_preset = preset.range(&device, proposed);
        let is_chosen = of_preset == *range;
        choice(label, "", is_chosen, Some(passing(&on_range, of_preset)))
    };
    let number = |label: &'static str, value: u64, ends: fn(u64) -> (Option<u64>, Option<u64>)| {
        let on_ends = on_ends.clone();
        let oninput = Callback::from(move |event: InputEvent| {
            let value = event.target_unchecked_into::<HtmlInputElement>().value_as_number();
            // An empty field has the value NaN.
            if value >= 0.0 {
                on_ends.emit(ends(value as u64));
            }
        });
        html! {
            <label>{ label }<input type="number" min="0" max={device.events.to_string()} step="1"
                value={value.to_string()} {oninput} /></label>
        }
    };
    let told = range_text(&device, range);
    let is_refused = told.is_err();
    let is_all = *range == (0..device.events) && devices.len() == 1;
    let order = PartOrder { device: device.index, start: range.start, end: range.end };
    let onsubmit = props.on_open.reform(move |event: SubmitEvent| {
        event.prevent_default();
        if is_all { None } else { Some(order) }
    });
    let events = format::counted(proposed, "event");
    html! {
        <main class="state">
            <form class="card part-card" {onsubmit} data-part="">
                <h1 class="card-title">{ "Open part of " }<span class="file-text">{ &props.name }</span></h1>
                <p class="hint">
                    { "Only the selected events are opened. Memory that was live before them is counted, so live bytes are \
                       exact. Drag over the curve to select events, or use the controls below." }
                </p>
                if devices.len() > 1 {
                    <label class="part-device">{ "Device" }<select onchange={by_position(devices.len(), &on_device)}>
                        { options(&devices, *position) }
                    </select></label>
                }
                <PreviewCurve device={device.clone()} share={1.0} chosen={range.clone()} on_choose={on_range.clone()}
                    scheme={props.scheme} label={format!("Live bytes of GPU {}", device.index)} />
                <div class="part-choices">
                    { segmented("Events", [
                        preset(&format!("Last {events}"), Preset::Last),
                        preset("Around the peak", Preset::Peak),
                        preset("All", Preset::All),
                    ]) }
                    { number("From", range.start, |start| (Some(start), None)) }
                    { number("to", range.end, |end| (None, Some(end))) }
                </div>
                <div class="card-foot">
                    <span class={classes!("numbers", is_refused.then_some("part-refused"))} role="status">
                        { told.unwrap_or_else(|reason| reason) }
                    </span>
                    <button type="button" class="button" onclick={click(&props.on_cancel)}>{ "Cancel" }</button>
                    <button type="submit" class="button primary" disabled={is_refused}>{ "Open" }</button>
                </div>
            </form>
        </main>
    }
}

/// Shows which events are open, and buttons to open others; renders nothing for a whole file.
pub fn part_bar(file: &FileHandle, devices: &[DeviceOutline]) -> Html {
    let open = devices.iter().find_map(|device| Some((device, device.part?)));
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
    let (all, others) = (file.clone(), file.clone());
    html! {
        <p class="origin part-bar" data-part-bar="">
            { icon(IconName::Info) }<span>{ text }</span>
            <button type="button" class="button" onclick={move |_: MouseEvent| others.choose_part()}>
                { "Other events…" }
            </button>
            <button type="button" class="button" onclick={move |_: MouseEvent| all.open_all()}>{ "Open all" }</button>
        </p>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub struct PreviewCurveProps {
    pub device: PreviewDevice,
    /// Share of the device's events that has been read, from 0 to 1.
    pub share: f64,
    pub label: AttrValue,
    pub scheme: Scheme,
    #[prop_or_default]
    pub chosen: Option<Range<u64>>,
    /// Called with the events chosen by dragging; `None` makes the curve read-only.
    #[prop_or_default]
    pub on_choose: Option<Callback<Range<u64>>>,
}

#[component]
pub fn PreviewCurve(props: &PreviewCurveProps) -> Html {
    let PreviewCurveProps { device, share, label, scheme, chosen, on_choose } = props.clone();
    let draw = use_callback((device.clone(), share, chosen, scheme), |size, (device, share, chosen, scheme)| {
        preview(device, *share, chosen.as_ref(), size, scheme.theme())
    });
    let began = use_mut_ref(|| None::<f64>);
    let node = use_node_ref();
    let choose = |is_start: bool| {
        let (node, began, device, on_choose) = (node.clone(), began.clone(), device.clone(), on_choose.clone());
        Callback::from(move |event: PointerEvent| {
            let Some((on_choose, element)) = on_choose.as_ref().zip(node.cast::<HtmlElement>()) else { return };
            let at = share_of_plot(share_across(&element, &event), size_of_element(&element).0);
            if is_start {
                *began.borrow_mut() = Some(at);
            }
            if let Some(from) = *began.borrow() {
                on_choose.emit(dragged(&device, from, at));
            }
        })
    };
    let end = bound(began.clone(), move |began, _: PointerEvent| *began.borrow_mut() = None);
    html! {
        <div ref={node.clone()} class={classes!("preview-curve", on_choose.as_ref().map(|_| "choosable"))}
            data-preview={device.highest_bytes.len().to_string()} onpointerdown={choose(true)}
            onpointermove={choose(false)} onpointerup={end.clone()} onpointercancel={end.clone()} onpointerleave={end}>
            <Picture {draw} label={Some(label)} />
        </div>
    }
}
