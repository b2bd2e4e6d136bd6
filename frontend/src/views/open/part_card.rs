//! Card for choosing which events of a large file to open, with its curve, and the bar that tells which are open.

use super::preview_model::{Preset, dragged, order, preview, proposed_events, range_text, share_of_plot};
use crate::ask::{DeviceOutline, PartOrder, PreviewData, PreviewDevice};
use crate::components::icon::{IconName, icon};
use crate::components::picture::Picture;
use crate::hooks::use_file;
use crate::platform::{share_across, size_of_element};
use crate::state::Scheme;
use shared::base::format;
use std::ops::Range;
use std::rc::Rc;
use web_sys::{HtmlElement, HtmlInputElement, HtmlSelectElement};
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

/// Events that are chosen so far.
#[derive(Clone, PartialEq)]
struct Chosen(Range<u64>);

/// Change of the chosen events.
///
/// A change of one end keeps the other end as it is by then: several keys can be pressed between two renderings.
enum Change {
    To(Range<u64>),
    Start(u64),
    End(u64),
}

impl Reducible for Chosen {
    type Action = Change;

    fn reduce(self: Rc<Self>, change: Change) -> Rc<Self> {
        let Range { start, end } = self.0;
        Rc::new(Self(match change {
            Change::To(range) => range,
            Change::Start(start) => start..end,
            Change::End(end) => start..end,
        }))
    }
}

/// Shows the curve of a device with the chosen events, and the controls that choose them.
#[component]
pub fn PartCard(props: &PartCardProps) -> Html {
    let position = use_state_eq(|| most_events(&props.overview));
    let device = props.overview.devices.get(*position).cloned().unwrap_or_default();
    let chosen = use_reducer_eq(|| Chosen(Preset::Last.range(&device, proposed_events(&device))));
    let range = &chosen.0;
    let on_change = {
        let chosen = chosen.dispatcher();
        Callback::from(move |change: Change| chosen.dispatch(change))
    };
    let on_range = on_change.reform(Change::To);
    let on_device = {
        let (position, on_range, overview) = (position.setter(), on_range.clone(), props.overview.clone());
        Callback::from(move |event: Event| {
            let chosen = event.target_unchecked_into::<HtmlSelectElement>().selected_index().max(0) as usize;
            if let Some(device) = overview.devices.get(chosen) {
                position.set(chosen);
                on_range.emit(Preset::Last.range(device, proposed_events(device)));
            }
        })
    };
    let proposed = proposed_events(&device);
    let preset = |label: String, preset: Preset| {
        let onclick = on_range.reform({
            let device = device.clone();
            move |_: MouseEvent| preset.range(&device, proposed)
        });
        let is_chosen = preset.range(&device, proposed) == *range;
        html! { <button type="button" {onclick} aria-pressed={is_chosen.to_string()}>{ label }</button> }
    };
    let number = |label: &'static str, value: u64, change: fn(u64) -> Change| {
        let on_change = on_change.clone();
        let oninput = Callback::from(move |event: InputEvent| {
            let value = event.target_unchecked_into::<HtmlInputElement>().value_as_number();
            // An empty field has the value NaN.
            if value >= 0.0 {
                on_change.emit(change(value as u64));
            }
        });
        html! {
            <label>{ label }<input type="number" min="0" max={device.events.to_string()} step="1"
                value={value.to_string()} {oninput} /></label>
        }
    };
    let told = range_text(&device, range);
    let is_refused = told.is_err();
    let (is_all, order) = (*range == (0..device.events) && props.overview.devices.len() == 1, order(&device, range));
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
                if props.overview.devices.len() > 1 {
                    <label class="part-device">{ "Device" }<select onchange={on_device}>
                        { for props.overview.devices.iter().enumerate().map(|(index, device)| html! {
                            <option selected={index == *position}>
                                { format!("GPU {}, {}", device.index, format::counted(device.events, "event")) }
                            </option>
                        }) }
                    </select></label>
                }
                <PreviewCurve device={device.clone()} share={1.0} chosen={range.clone()} on_choose={on_range.clone()}
                    scheme={props.scheme} label={format!("Live bytes of GPU {}", device.index)} />
                <div class="part-choices">
                    <div class="segmented" role="group" aria-label="Events">
                        { preset(format!("Last {events}"), Preset::Last) }
                        { preset("Around the peak".to_owned(), Preset::Peak) }
                        { preset("All".to_owned(), Preset::All) }
                    </div>
                    { number("From", range.start, Change::Start) }
                    { number("to", range.end, Change::End) }
                </div>
                <div class="card-foot">
                    <span class={classes!("numbers", is_refused.then_some("part-refused"))} role="status">
                        { told.unwrap_or_else(|reason| reason) }
                    </span>
                    <button type="button" class="button" onclick={props.on_cancel.reform(|_: MouseEvent| ())}>
                        { "Cancel" }
                    </button>
                    <button type="submit" class="button primary" disabled={is_refused}>{ "Open" }</button>
                </div>
            </form>
        </main>
    }
}

fn most_events(overview: &PreviewData) -> usize {
    (0..overview.devices.len()).rev().max_by_key(|&position| overview.devices[position].events).unwrap_or(0)
}

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
            { icon(IconName::Info) }<span>{ text }</span>
            <button type="button" class="button" onclick={move |_: MouseEvent| file.choose_part()}>
                { "Other events…" }
            </button>
            <button type="button" class="button" onclick={on_all}>{ "Open all" }</button>
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

/// Shows the live bytes along the events, with the chosen events marked.
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
    let end = {
        let began = began.clone();
        Callback::from(move |_: PointerEvent| *began.borrow_mut() = None)
    };
    html! {
        <div ref={node.clone()} class={classes!("preview-curve", on_choose.as_ref().map(|_| "choosable"))}
            data-preview={device.highest_bytes.len().to_string()} onpointerdown={choose(true)}
            onpointermove={choose(false)} onpointerup={end.clone()} onpointercancel={end.clone()} onpointerleave={end}>
            <Picture {draw} label={Some(label)} />
        </div>
    }
}
