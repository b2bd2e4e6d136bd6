//! Hook that shows the events behind a finding one by one.

use super::model::moments;
use crate::ask::{AllocationKey, FindAllocation, Hit};
use crate::platform::WorkerClient;
use shared::report::Finding;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Part of the timeline to show.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// Position of the device.
    pub device: u32,
    /// Allocation to pin; `None` if the event belongs to none.
    pub hit: Option<Hit>,
    /// First and last moment of the part.
    pub between: (u32, u32),
}

/// Events behind a finding.
#[derive(Clone, PartialEq)]
pub struct Evidence {
    /// Index of the event that was shown last.
    pub index: Option<usize>,
    /// Number of events.
    pub count: usize,
    /// Shows the event with the given index.
    pub show: Callback<usize>,
}

/// Shows the events of a finding one by one, with all of them in view; `device` is a position.
#[hook]
pub fn use_evidence(client: &WorkerClient, finding: &Rc<Finding>, device: u32, on_show: &Callback<Shown>) -> Evidence {
    let index = use_state_eq(|| None);
    let show = {
        let (client, finding, on_show, index) = (client.clone(), finding.clone(), on_show.clone(), index.setter());
        Callback::from(move |next: usize| {
            let (Some(&event), Some(between)) = (finding.evidence.events.get(next), moments(&finding)) else { return };
            index.set(Some(next));
            let (client, on_show) = (client.clone(), on_show.clone());
            spawn_local(async move {
                // The worker refuses an event without an allocation, such as an out-of-memory error; then nothing is
                // pinned.
                let hit = client
                    .ask(FindAllocation { device, key: AllocationKey::Event(event), moment: event.saturating_add(1) })
                    .await
                    .ok();
                on_show.emit(Shown { device, hit, between });
            });
        })
    };
    Evidence { index: *index, count: finding.evidence.events.len(), show }
}
