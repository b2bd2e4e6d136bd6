//! Hook that shows what a finding is about: its allocations, or the events behind it one by one.

use super::model::moments;
use crate::ask::stack::stack_mark;
use crate::ask::{AllocationKey, FindAllocation, GroupBy, GroupMark, Hit, Kind, NameMark};
use crate::platform::WorkerClient;
use shared::report::{Finding, Target};
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
    /// Allocations to set apart from all others.
    pub kind: Option<Kind>,
}

/// Returns the kind of the allocations that a target has in common.
pub fn kind_of(target: &Target) -> Option<Kind> {
    let Target { category, stack, line, .. } = target;
    let of_line = || {
        let line = line.as_ref()?;
        let mark = NameMark::of([line.title.as_str(), &line.detail]);
        Some(Kind::Group(GroupMark { by: GroupBy::Frame, mark }))
    };
    let of_stack = || (!stack.is_empty()).then(|| Kind::Stack(stack_mark(stack)));
    category.map(Kind::Category).or_else(of_stack).or_else(of_line)
}

/// Returns the part of the timeline that shows a target; `device` is a position.
pub fn shown(device: u32, target: &Target) -> Shown {
    Shown { device, hit: None, between: (target.first, target.last), kind: kind_of(target) }
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
                on_show.emit(Shown { device, hit, between, kind: None });
            });
        })
    };
    Evidence { index: *index, count: finding.evidence.events.len(), show }
}
