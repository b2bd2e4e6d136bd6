//! What shows a finding, event by event.

use crate::platform::WorkerClient;
use crate::view::findings::moments;
use crate::worker::{AllocationKey, Finding, Hit};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Where the timeline is to look.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// Position of the device.
    pub device: u32,
    /// The allocation to pin, `None` where the event is of none.
    pub hit: Option<Hit>,
    /// The moments that everything lies between.
    pub between: (u32, u32),
}

/// The events that show a finding.
#[derive(Clone, PartialEq)]
pub struct Evidence {
    /// Which of them was shown last.
    pub index: Option<usize>,
    /// How many there are.
    pub count: usize,
    /// Shows one of them.
    pub show: Callback<usize>,
}

/// Shows the events of a finding one after the other, all of them in view.
#[hook]
pub fn use_evidence(client: &WorkerClient, finding: &Rc<Finding>, on_show: &Callback<Shown>) -> Evidence {
    let index = use_state_eq(|| None);
    let show = {
        let (client, finding, on_show, index) = (client.clone(), finding.clone(), on_show.clone(), index.setter());
        Callback::from(move |next: usize| {
            let (Some(&event), Some(between)) = (finding.events.get(next), moments(&finding)) else { return };
            index.set(Some(next));
            let (client, on_show, device) = (client.clone(), on_show.clone(), finding.device);
            spawn_local(async move {
                // An event without an allocation, such as an out-of-memory error, is refused: then nothing is pinned.
                let hit = client.find(device, AllocationKey::Event(event), event.saturating_add(1)).await.ok();
                on_show.emit(Shown { device, hit, between });
            });
        })
    };
    Evidence { index: *index, count: finding.events.len(), show }
}
