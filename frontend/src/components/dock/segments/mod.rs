//! The segments of the device at any moment: a map, what is lost, and what is kept by little.

mod controls;
mod held;
mod map;
mod waste;

use self::{controls::Controls, held::HeldList, map::Map, waste::Waste};
use super::DockProps;
use crate::draw::segment_map::ColorBy;
use crate::hooks::use_segments;
use crate::state::TimelineCommand;
use crate::worker::{Instant, SegmentsData};
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct SegmentsProps {
    pub(super) dock: DockProps,
}

/// A block of the map at the moment that it is of; positions of other moments mean nothing.
type Focus = Option<(u32, usize)>;

/// The view; it begins where the most is reserved.
#[component]
pub(super) fn Segments(props: &SegmentsProps) -> Html {
    let DockProps { client, file, device, scheme, on_pin, on_command, .. } = &props.dock;
    let instant = use_state_eq(|| Instant::ReservedPeak);
    let color_by = use_state_eq(ColorBy::default);
    let zoom = use_state_eq(|| 0_u32);
    let focus = use_state_eq(|| Focus::None);
    let data = use_segments(client, device.device, *instant);
    let set = |setter: UseStateSetter<Instant>| Callback::from(move |next: Instant| setter.set(next));
    let moment = match *instant {
        Instant::At(moment) => Some(moment.min(u32::try_from(device.events).unwrap_or(u32::MAX))),
        _ => data.as_ref().map(|data| data.moment),
    };
    let on_show = on_command.reform(move |()| TimelineCommand::JumpTo { moment: moment.unwrap_or_default() });
    let set_focus = {
        let (focus, of_moment) = (focus.setter(), data.as_ref().map_or(0, |data| data.moment));
        Callback::from(move |block: usize| focus.set(Some((of_moment, block))))
    };
    let set_color = {
        let color_by = color_by.setter();
        Callback::from(move |next| color_by.set(next))
    };
    let set_zoom = {
        let zoom = zoom.setter();
        Callback::from(move |next| zoom.set(next))
    };
    let pinned = file.pinned.clone();
    html! {
        <section class="segments" aria-label="Segments" data-segments="">
            <Controls instant={*instant} {moment} events={u32::try_from(device.events).unwrap_or(u32::MAX)}
                previous={data.as_ref().and_then(|data| data.previous)} next={data.as_ref().and_then(|data| data.next)}
                pinned={pinned.as_ref().map(|hit| hit.moment)} color_by={*color_by} zoom={*zoom}
                on_instant={set(instant.setter())} on_color={set_color} on_zoom={set_zoom} {on_show} />
            <Waste parts={data.as_ref().map(|data| data.parts)} />
            <div class="segments-main">
                { body(data.as_ref(), |data| html! {
                    <>
                        <Map client={client.clone()} device={device.clone()} data={data.clone()} scheme={*scheme}
                            color_by={*color_by} zoom={*zoom} on_focus={set_focus.clone()} on_pin={on_pin.clone()}
                            focus={focus.filter(|focus| focus.0 == data.moment).map(|focus| focus.1)}
                            pinned={pinned.as_ref().and_then(|hit| hit.allocation.as_ref()).map(|found| found.key())} />
                        <HeldList {data} on_show={set_focus.clone()} />
                    </>
                }) }
            </div>
        </section>
    }
}

fn body(data: Option<&Rc<SegmentsData>>, full: impl FnOnce(Rc<SegmentsData>) -> Html) -> Html {
    match data {
        None => html! { <p class="panel-empty" role="status">{ "Reading the segments…" }</p> },
        Some(data) if data.segments.is_empty() => html! {
            <p class="panel-empty" role="status">{ "No segment is there at this moment" }</p>
        },
        Some(data) => full(data.clone()),
    }
}
