//! Hook for the segments at a moment that the user moves.

use crate::ask::{GetSegments, Instant, Kind, SegmentsData};
use crate::platform::WorkerClient;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Returns the segments of the last answered moment of a device; `None` before the first answer.
///
/// While a slider is dragged, answers arrive after newer questions were sent. Each answer is shown when it arrives, and
/// the worker skips questions that are out of date.
#[hook]
pub fn use_segments(
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
