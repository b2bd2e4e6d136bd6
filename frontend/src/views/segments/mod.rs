//! Dock tab for the device's segments at one moment: a map, the waste, and segments held by few bytes.

pub mod draw;
pub mod hook;
pub mod model;

mod controls;
mod held;
mod map;
mod waste;

use self::controls::Controls;
use self::held::HeldList;
use self::hook::use_segments;
use self::map::Map;
use self::waste::Waste;
use super::export::sheet_buttons::SheetButtons;
use crate::ask::{Instant, SegmentsData, SheetOf};
use crate::hooks::{use_file, use_shown};
use crate::state::{Choice, SegmentsChoice};
use std::rc::Rc;
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
    let set_focus = file.choosing(move |block: usize| {
        let focus = u32::try_from(block).ok().map(|block| (of_moment, block));
        Choice::Segments(SegmentsChoice { focus, ..choice })
    });
    html! {
        <section class="segments" aria-label="Segments" data-segments="">
            <Controls {choice} {moment} previous={data.as_ref().and_then(|data| data.previous)}
                next={data.as_ref().and_then(|data| data.next)}>
                <SheetButtons table={segments_name(instant, moment)} of={move |()| SheetOf::Segments(instant)} />
            </Controls>
            <Waste parts={data.as_ref().map(|data| data.reserved.bytes)} />
            <div class="segments-main">
                { body(data.as_ref(), |data| html! {
                    <>
                        <Map data={data.clone()} {choice} on_focus={set_focus.clone()} focus={focus_at(choice.focus, &data)}
                            pinned={shown.ready.pinned_allocation().map(|found| found.key())} />
                        <HeldList {data} on_show={set_focus.clone()} />
                    </>
                }) }
            </div>
        </section>
    }
}

/// Returns the block at which the keyboard is.
///
/// An address may name a block that does not exist, which gives `None`.
fn focus_at(focus: Option<(u32, u32)>, data: &SegmentsData) -> Option<usize> {
    let (moment, block) = focus?;
    (moment == data.moment && (block as usize) < data.blocks.len()).then_some(block as usize)
}

/// Returns the part of the saved file's name that names the table and its moment.
fn segments_name(instant: Instant, moment: Option<u32>) -> String {
    match (instant, moment) {
        (Instant::End, _) | (_, None) => "segments".to_owned(),
        (_, Some(0)) => "segments-before-event-0".to_owned(),
        (_, Some(moment)) => format!("segments-after-event-{}", moment - 1),
    }
}

fn body(data: Option<&Rc<SegmentsData>>, full: impl FnOnce(Rc<SegmentsData>) -> Html) -> Html {
    match data {
        None => html! { <p class="panel-empty" role="status">{ "Reading the segments…" }</p> },
        Some(data) if data.segments.is_empty() => html! {
            <p class="panel-empty" role="status">{ "PyTorch has no segments at this moment" }</p>
        },
        Some(data) => full(data.clone()),
    }
}
