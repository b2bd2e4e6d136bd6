//! Writes the rows of the tables of allocations and events.

use super::{Cell, Rows};
use crate::analysis::{Axis, Origin, categories};
use crate::base::Moment;
use crate::base::{StringId, format};
use crate::export::subject::Subject;
use crate::trace::{Action, PoolId, StackId};
use std::borrow::Cow;

/// Columns of the allocations; the frames have a table of their own, because here they would be most of the file.
pub(super) const ALLOCATIONS: &[&str] = &[
    "device",
    "allocation",
    "alloc_event",
    "free_event",
    "address",
    "bytes",
    "alloc_us",
    "free_us",
    "is_initial",
    "category",
    "stack",
    "title",
];

pub(super) fn allocations(subject: &Subject<'_>, row: &mut Rows<'_>) {
    let titles = titles(subject);
    for study in subject.studies() {
        let (device, timeline) = (study.device, study.timeline);
        let allocations = &timeline.allocations;
        let categories = categories(device, timeline, &study.phases);
        let time_us = |moment: u32| match timeline.has_times() {
            true => Cell::number(timeline.x_of_moment(device, Axis::Time, moment) as i64),
            false => Cell::Nothing,
        };
        for id in allocations.ids() {
            let allocation = allocations.get(id, device);
            let stack = allocations.allocation_stack(id, device);
            let is_initial = allocations.is_initial(id);
            let died = (allocation.died != u32::MAX).then_some(allocation.died);
            let alloc_event = match allocation.origin {
                Origin::Event(event) => Some(event as i64),
                _ => None,
            };
            row(&[
                Cell::number(device.index),
                Cell::number(id.index() as i64),
                alloc_event.into(),
                died.map(|died| Moment(died).event_number()).into(),
                Cell::Address(allocation.addr),
                Cell::number(allocation.size_bytes),
                if is_initial { Cell::Nothing } else { time_us(allocation.born) },
                died.map_or(Cell::Nothing, time_us),
                Cell::Flag(is_initial),
                Cell::text(categories[id.index()].name()),
                Cell::stack(stack),
                titled(&titles, stack),
            ]);
        }
    }
}

pub(super) const EVENTS: &[&str] = &[
    "device",
    "event",
    "action",
    "address",
    "bytes",
    "free_bytes",
    "time_us",
    "stream",
    "pool",
    "stack",
    "title",
    "user_metadata",
    "compile_context",
];

pub(super) fn events(subject: &Subject<'_>, row: &mut Rows<'_>) {
    let titles = titles(subject);
    let text = |id: StringId| Cell::some_text(subject.text(id));
    for &(device, _) in subject.devices {
        let has_times = device.events.has_times();
        for (index, event) in device.events.iter().enumerate() {
            let context = subject.trace.contexts.get(event.context);
            // An out-of-memory event has the free bytes in place of an address.
            let is_oom = event.action == Action::Oom;
            row(&[
                Cell::number(device.index),
                Cell::number(index as i64),
                Cell::text(event.action.name()),
                if is_oom { Cell::Nothing } else { Cell::Address(event.addr) },
                Cell::number(event.size_bytes),
                is_oom.then_some(event.addr).into(),
                has_times.then_some(event.time_us).into(),
                if context.stream == 0 { Cell::number(0) } else { Cell::text(format::address(context.stream)) },
                context.pool.map_or(Cell::Nothing, |PoolId(first, second)| Cell::text(format!("{first} {second}"))),
                Cell::stack(event.stack),
                titled(&titles, event.stack),
                text(context.user_metadata),
                text(context.compile_context),
            ]);
        }
    }
}

/// Returns the title of every stack, by the stack's number, because a million rows share a few thousand stacks.
fn titles(subject: &Subject<'_>) -> Vec<String> {
    (0..subject.trace.stacks.len()).map(|index| subject.title(StackId::from_index(index))).collect()
}

fn titled<'t>(titles: &'t [String], stack: StackId) -> Cell<'t> {
    if stack.has_frames() { Cell::text(Cow::Borrowed(titles[stack.index()].as_str())) } else { Cell::Nothing }
}
