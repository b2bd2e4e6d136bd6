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
use super::dock_props::DockProps;
use super::export::picture::use_easel;
use crate::ask::{Instant, SegmentsData, SheetOf};
use crate::state::{Choice, SegmentsChoice, TimelineCommand};
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct SegmentsProps {
    pub(super) dock: DockProps,
}

/// Shows the tab; it starts at the moment with the most reserved bytes.
#[component]
pub(super) fn Segments(props: &SegmentsProps) -> Html {
    let DockProps { client, file, device, scheme, on_pin, on_command, .. } = &props.dock;
    let easel = use_easel();
    let choice = file.choices.segments;
    let SegmentsChoice { instant, color_by, scale, focus } = choice;
    let data = use_segments(client, device.device, instant, file.kind.clone());
    let on_choose = props.dock.on_choose.reform(Choice::Segments);
    let moment = match instant {
        Instant::At(moment) => Some(moment.min(u32::try_from(device.summary.events).unwrap_or(u32::MAX))),
        _ => data.as_ref().map(|data| data.moment),
    };
    let on_show = on_command.reform(move |()| TimelineCommand::JumpTo { moment: moment.unwrap_or_default() });
    let of_moment = data.as_ref().map_or(0, |data| data.moment);
    let set_focus = on_choose.reform(move |block: usize| {
        let focus = u32::try_from(block).ok().map(|block| (of_moment, block));
        SegmentsChoice { focus, ..choice }
    });
    let set_instant = on_choose.reform(move |instant| SegmentsChoice { instant, ..choice });
    let set_color = on_choose.reform(move |color_by| SegmentsChoice { color_by, ..choice });
    let set_scale = on_choose.reform(move |scale| SegmentsChoice { scale, ..choice });
    let pinned = file.pinned.clone();
    html! {
        <section class="segments" aria-label="Segments" data-segments="">
            <Controls {instant} {moment} events={u32::try_from(device.summary.events).unwrap_or(u32::MAX)}
                previous={data.as_ref().and_then(|data| data.previous)} next={data.as_ref().and_then(|data| data.next)}
                pinned={pinned.as_ref().map(|hit| hit.moment)} {color_by} zoom={scale}
                on_instant={set_instant} on_color={set_color} on_zoom={set_scale} {on_show}
                files={props.dock.sheet_buttons(segments_name(instant, moment), move || SheetOf::Segments(instant))} />
            <Waste parts={data.as_ref().map(|data| data.reserved.bytes)} />
            <div class="segments-main">
                { body(data.as_ref(), |data| html! {
                    <>
                        <Map client={client.clone()} device={device.clone()} data={data.clone()} scheme={*scheme}
                            easel={easel.clone()} {color_by} zoom={scale} on_focus={set_focus.clone()} on_pin={on_pin.clone()}
                            focus={focus_at(focus, &data)}
                            pinned={pinned.as_ref().and_then(|hit| hit.allocation.as_ref()).map(|found| found.key())} />
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
