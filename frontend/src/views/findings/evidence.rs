//! Hook that shows what a finding is about: its allocations, or the events behind it one by one.

use super::model::moments;
use crate::ask::stack::stack_mark;
use crate::ask::{AllocationKey, ColorBy, FindAllocation, GroupBy, GroupMark, Hit, Kind, NameMark};
use crate::hooks::FileHandle;
use crate::platform::bring_into_view;
use crate::state::{Choice, DockTab, FileAction, RowsChoice, Selecting, TimelineCommand};
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

/// Shows a part of the timeline, and the allocations of a category also in the table.
pub fn show_part(file: &FileHandle, shown: Shown) {
    let Shown { device, hit, between: (first, last), kind } = shown;
    file.act(FileAction::PinFound { device, hit });
    if let Some(Kind::Category(category)) = &kind {
        file.act(FileAction::ChooseColor(ColorBy::Category));
        file.choose(Choice::Selecting(Selecting::of_category(*category)));
        file.choose(Choice::Rows(RowsChoice { by: Some(GroupBy::Stack), ..RowsChoice::default() }));
        file.act(FileAction::ChooseDock(Some(DockTab::Allocations)));
    }
    file.act(FileAction::SelectKind(kind));
    file.command(TimelineCommand::Between { first, last });
    // On a phone the timeline is a screen away from the panel.
    bring_into_view("[data-timeline]");
}

/// Events behind a finding.
#[derive(Clone, PartialEq)]
pub struct Evidence {
    /// Index of the event that was shown last.
    pub index: Option<usize>,
    /// Number of events.
    pub count: usize,
    /// Called with the index of the event to show.
    pub on_event: Callback<usize>,
}

/// Shows the events of a finding one by one, with all of them in view; `device` is a position.
#[hook]
pub fn use_evidence(file: &FileHandle, finding: &Rc<Finding>, device: u32) -> Evidence {
    let index = use_state_eq(|| None);
    let on_event = {
        let (file, finding, index) = (file.clone(), finding.clone(), index.setter());
        Callback::from(move |next: usize| {
            let (Some(&event), Some(between)) = (finding.evidence.events.get(next), moments(&finding)) else { return };
            index.set(Some(next));
            let file = file.clone();
            spawn_local(async move {
                // The worker refuses an event without an allocation, such as an out-of-memory error; then nothing is
                // pinned.
                let hit = file
                    .client
                    .ask(FindAllocation { device, key: AllocationKey::Event(event), moment: event.saturating_add(1) })
                    .await
                    .ok();
                show_part(&file, Shown { device, hit, between, kind: None });
            });
        })
    };
    Evidence { index: *index, count: finding.evidence.events.len(), on_event }
}
