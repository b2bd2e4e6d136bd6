//! Dock tab for the device's segments at one moment: a map, the waste, and segments held by few bytes.

pub mod draw;
mod map;
pub mod model;

use self::draw::block_at_addr;
use self::map::Map;
use self::model::{HeldGroup, facts, held_groups, moment as moment_text, parts};
use super::export::SheetButtons;
use crate::ask::{Fragmentation, GetSegments, Instant, Kind, SegmentsData, SheetOf};
use crate::components::{choice, empty, segmented, waiting};
use crate::hooks::{FileHandle, ShownFile, use_file, use_shown};
use crate::platform::WorkerClient;
use crate::state::{BlockColors, Choice, FileAction, SegmentsChoice, TimelineCommand};
use shared::base::format;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use web_sys::HtmlInputElement;
use yew::prelude::*;

/// Shows the tab; it starts at the moment with the most reserved bytes.
#[component]
pub(super) fn Segments() -> Html {
    let (file, shown) = (use_file(), use_shown());
    let choice = shown.ready.choices.segments;
    let instant = choice.instant;
    let data = use_segments(&file.client, shown.device.device, instant, shown.ready.kind.clone());
    let moment = match instant {
        Instant::At(moment) => Some(moment.min(shown.events())),
        _ => data.as_ref().map(|data| data.moment),
    };
    let of_moment = data.as_ref().map_or(0, |data| data.moment);
    // An address may name a block that does not exist.
    let focus = choice.focus.zip(data.as_ref()).and_then(|((moment, block), data)| {
        (moment == data.moment && (block as usize) < data.blocks.len()).then_some(block as usize)
    });
    let set_focus = file.choosing(move |block: usize| {
        let focus = u32::try_from(block).ok().map(|block| (of_moment, block));
        Choice::Segments(SegmentsChoice { focus, ..choice })
    });
    html! {
        <section class="segments" aria-label="Segments" data-segments="">
            { controls(&file, &shown, moment, data.as_deref(), html! {
                <SheetButtons table={segments_name(instant, moment)} of={move |()| SheetOf::Segments(instant)} />
            }) }
            { waste(data.as_ref().map(|data| data.reserved.bytes)) }
            <div class="segments-main">
                { match data {
                    None => waiting("Reading the segments…"),
                    Some(data) if data.segments.is_empty() => waiting("PyTorch has no segments at this moment"),
                    Some(data) => html! {
                        <>
                            <Map data={data.clone()} {choice} on_focus={set_focus.clone()} {focus}
                                pinned={shown.ready.pinned_allocation().map(|found| found.key())} />
                            { held_list(&data, &set_focus) }
                        </>
                    },
                } }
            </div>
        </section>
    }
}

/// Returns the part of the saved file's name that names the table and its moment.
fn segments_name(instant: Instant, moment: Option<u32>) -> String {
    match (instant, moment) {
        (Instant::End, _) | (_, None) => "segments".to_owned(),
        (_, Some(0)) => "segments-before-event-0".to_owned(),
        (_, Some(moment)) => format!("segments-after-event-{}", moment - 1),
    }
}

/// Returns the segments of the last answered moment of a device; `None` before the first answer.
///
/// While a slider is dragged, answers arrive after newer questions were sent. Each answer is shown when it arrives, and
/// the worker skips questions that are out of date.
#[hook]
fn use_segments(
    client: &WorkerClient,
    device: u32,
    instant: Instant,
    kind: Option<Rc<Kind>>,
) -> Option<Rc<SegmentsData>> {
    let shown = use_state(|| None::<(WorkerClient, u32, Rc<SegmentsData>)>);
    let setter = shown.setter();
    use_effect_with((client.clone(), device, instant, kind), move |(client, device, instant, kind)| {
        let (client, device, instant, kind) = (client.clone(), *device, *instant, kind.as_deref().cloned());
        spawn_local(async move {
            // An error means that a newer question was sent, or that the file was closed.
            if let Ok(segments) = client.ask(GetSegments { device, instant, kind }).await {
                setter.set(Some((client, device, Rc::new(segments))));
            }
        });
    });
    let of_this = shown.as_ref().filter(|(of_client, of_device, _)| of_client == client && *of_device == device);
    of_this.map(|(_, _, segments)| segments.clone())
}

/// Shows the segments with the most free bytes first, those of one stack in a line; a click shows the largest block.
///
/// `on_show` is called with the position of that block.
fn held_list(data: &SegmentsData, on_show: &Callback<usize>) -> Html {
    let row = |HeldGroup { free, by, title, first }: HeldGroup| {
        let row = &data.reserved.held[first];
        let largest = row.holders.first().and_then(|holder| block_at_addr(data, row.addr, holder.addr));
        let on_show = on_show.clone();
        let onclick = move |_: MouseEvent| largest.iter().for_each(|&block| on_show.emit(block));
        html! {
            <li>
                <button type="button" class="held" title="Show the block in the map" {onclick}>
                    <span class="held-free numbers">{ free }<small>{ " free" }</small></span>
                    <span class="held-title">{ title }</span>
                    <span class="held-by numbers">{ by }</span>
                </button>
            </li>
        }
    };
    html! {
        <aside class="held-list" aria-label="Mostly free segments">
            <h2 title="At most a quarter of each segment is in use, but it can't be returned to CUDA">{ "Mostly free segments" }</h2>
            if data.reserved.held.is_empty() {
                { empty("No segment in use is mostly free") }
            } else {
                <ol>{ for held_groups(&data.reserved.held).into_iter().map(row) }</ol>
            }
            if data.reserved.other_held > 0 {
                { empty(&format!("{} more", format::counted(data.reserved.other_held, "segment"))) }
            }
        </aside>
    }
}

/// Shows a bar of all parts, and the size and definition of each; `known` is `None` until the sizes are.
fn waste(known: Option<Fragmentation>) -> Html {
    let bytes = known.unwrap_or_default();
    let parts = parts(&bytes);
    let bar = parts.iter().filter(|part| part.bar.1 > 0.0).map(|part| {
        let (x, width) = (format!("{:.3}%", part.bar.0), format!("{:.3}%", part.bar.1));
        html! { <rect class={format!("part-{}", part.class)} {x} {width} height="10" /> }
    });
    let key = |class: &str| {
        html! {
            <svg class="waste-key" width="9" height="9" aria-hidden="true">
                <rect class={format!("part-{class}")} width="9" height="9" rx="2" />
            </svg>
        }
    };
    let term = parts.iter().map(|part| waste_part(key(part.class), part.label, part.meaning, &part.size, &part.share));
    let facts = facts(&bytes);
    let fact = facts.iter().map(|(label, size, meaning)| waste_part(Html::default(), label, meaning, size, ""));
    html! {
        <div class="waste" role="group" aria-label="Reserved memory by use" aria-busy={known.is_none().to_string()}>
            <svg class="waste-bar" height="10" role="img"
                aria-label={format!("{} reserved, by use", format::bytes(bytes.reserved_bytes))}>{ for bar }</svg>
            <dl class="waste-parts">
                { waste_part(Html::default(), "Reserved", "", &format::bytes(bytes.reserved_bytes), "") }
                { for term }
                { for fact }
            </dl>
        </div>
    }
}

/// Shows a size with its name; its key, its meaning and its share may be empty.
fn waste_part(key: Html, label: &'static str, meaning: &'static str, size: &str, share: &str) -> Html {
    html! {
        <div class="waste-part" title={(!meaning.is_empty()).then_some(meaning)}>
            <dt>
                { key }{ label }
                if !meaning.is_empty() { <span class="visually-hidden">{ format!(": {meaning}") }</span> }
            </dt>
            <dd class="numbers"><strong>{ size }</strong>if !share.is_empty() { { " " }{ share } }</dd>
        </div>
    }
}

/// Maximum number of times that the map's scale can be doubled.
const MOST_ZOOM: u32 = 12;

/// Shows the moment picker, the colours and the scale, with other buttons at the end.
///
/// `moment` is that of the chosen instant; `None` until it is known.
fn controls(
    file: &FileHandle,
    shown: &ShownFile,
    moment: Option<u32>,
    data: Option<&SegmentsData>,
    buttons: Html,
) -> Html {
    let now = shown.ready.choices.segments;
    let choose = |next: SegmentsChoice| file.clicked(FileAction::Choose(Choice::Segments(next)));
    let at = |instant: Instant| choose(SegmentsChoice { instant, ..now });
    let oninput = file.choosing(move |event: InputEvent| {
        let slider: HtmlInputElement = event.target_unchecked_into();
        Choice::Segments(SegmentsChoice { instant: Instant::At(slider.value_as_number() as u32), ..now })
    });
    let on_show = file.commanded(TimelineCommand::JumpTo { moment: moment.unwrap_or_default() });
    // The timeline would pan otherwise.
    let onkeydown = |event: KeyboardEvent| event.stop_propagation();
    let text = moment.map_or_else(|| "…".to_owned(), moment_text);
    let instant = |label: &str, title: &'static str, of: Option<Instant>| {
        choice(label, title, of == Some(now.instant), of.map(at))
    };
    let pinned = shown.ready.pinned.as_ref().map(|hit| Instant::At(hit.moment));
    let instants = [
        instant("Most reserved", "The first moment of peak reserved memory", Some(Instant::ReservedPeak)),
        instant("Peak", "The first moment of peak live memory", Some(Instant::LivePeak)),
        instant("Pinned", "The moment at which the allocation was pinned", pinned),
        instant("End", "After the last event", Some(Instant::End)),
    ];
    let step = |sign: &'static str, label: &'static str, next: Option<u32>| {
        button("button quiet square", sign, label, next.map(|moment| at(Instant::At(moment))))
    };
    let color = |label: &str, title: &'static str, color_by: BlockColors| {
        choice(label, title, color_by == now.color_by, Some(choose(SegmentsChoice { color_by, ..now })))
    };
    let colors = [
        color("Stack", "The colors of the timeline", BlockColors::Stack),
        color("State", "In use, pending or free", BlockColors::State),
    ];
    let scale = |sign: &'static str, label: &'static str, next: Option<u32>| {
        button("", sign, label, next.map(|scale| choose(SegmentsChoice { scale, ..now })))
    };
    let scales = [
        scale("−", "Smaller", now.scale.checked_sub(1)),
        scale("+", "Larger", Some(now.scale + 1).filter(|next| *next <= MOST_ZOOM)),
    ];
    html! {
        <div class="segments-controls" role="toolbar" aria-label="Segments">
            { segmented("Moment", instants) }
            <div class="segments-slider">
                { step("◀", "Previous segment event", data.and_then(|data| data.previous)) }
                <input type="range" min="0" max={shown.events().to_string()} step="1" aria-label="Moment"
                    value={moment.unwrap_or_default().to_string()} aria-valuetext={text.clone()}
                    {oninput} {onkeydown} />
                { step("▶", "Next segment event", data.and_then(|data| data.next)) }
                <output class="numbers">{ text }</output>
            </div>
            <button type="button" class="button quiet" disabled={moment.is_none()}
                title="Center the timeline on this moment" onclick={on_show}>{ "Show" }</button>
            { segmented("Colors", colors) }
            { segmented("Scale", scales) }
            { buttons }
        </div>
    }
}

/// Shows a button with a sign; without an effect it is disabled.
fn button(class: &'static str, sign: &'static str, label: &'static str, act: Option<Callback<MouseEvent>>) -> Html {
    let class = (!class.is_empty()).then_some(class);
    html! {
        <button type="button" {class} aria-label={label} title={label} disabled={act.is_none()} onclick={act}>{ sign }</button>
    }
}
