//! Writes the rows of each table: what happened in the course of a recording, what is alive at a moment, the final state,
//! and what explains it.

use super::{Cell, Rows};
use crate::analysis::{self, Axis, Category, FindingPart, Origin, Timeline, live_by_category, live_by_stack};
use crate::base::{Moment, StringId, format};
use crate::export::subject::Subject;
use crate::trace::{Action, Device, PoolId, StackId};
use std::borrow::Cow;

/// Columns of the allocations; the frames have a table of their own, because here they would be most of the file.
pub(super) const ALLOCATIONS: &str =
    "device allocation alloc_event free_event address bytes alloc_us free_us is_initial category stack title";

pub(super) fn allocations(subject: &Subject<'_>, row: &mut Rows<'_>) {
    let titles = titles(subject);
    for study in subject.studies() {
        let (device, timeline) = (study.device, study.timeline);
        let allocations = &timeline.allocations;
        let categories = analysis::categories(device, timeline, &study.phases);
        let time_us = |moment: u32| time_us(device, timeline, moment);
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

pub(super) const EVENTS: &str =
    "device event action address bytes free_bytes time_us stream pool stack title user_metadata compile_context";

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

/// Returns the time of a moment since the first event.
fn time_us(device: &Device, timeline: &Timeline, moment: u32) -> Cell<'static> {
    timeline.has_times().then(|| timeline.x_of_moment(device, Axis::Time, moment) as i64).into()
}

/// Returns the title of every stack, by the stack's number, because a million rows share a few thousand stacks.
fn titles(subject: &Subject<'_>) -> Vec<String> {
    (0..subject.trace.stacks.len()).map(|index| subject.title(StackId::from_index(index))).collect()
}

fn titled<'t>(titles: &'t [String], stack: StackId) -> Cell<'t> {
    if stack.has_frames() { Cell::text(Cow::Borrowed(titles[stack.index()].as_str())) } else { Cell::Nothing }
}

pub(super) const STACKS: &str = "device event stack bytes count initial_bytes title frames";

pub(super) fn stacks(subject: &Subject<'_>, row: &mut Rows<'_>) {
    for &(device, timeline) in subject.devices {
        let moment = subject.moment_of(timeline);
        for group in live_by_stack(device, &timeline.allocations, moment) {
            row(&[
                Cell::number(device.index),
                Cell::number(Moment(moment).event_number()),
                Cell::stack(group.stack),
                Cell::number(group.bytes),
                Cell::number(group.count),
                Cell::number(group.initial_bytes),
                Cell::text(subject.title(group.stack)),
                Cell::Frames(group.stack),
            ]);
        }
    }
}

pub(super) const CATEGORIES: &str = "device event category bytes count";

pub(super) fn categories(subject: &Subject<'_>, row: &mut Rows<'_>) {
    for study in subject.studies() {
        let moment = subject.moment_of(study.timeline);
        for held in live_by_category(&study, moment) {
            row(&[
                Cell::number(study.device.index),
                Cell::number(Moment(moment).event_number()),
                Cell::text(Category::name(held.category)),
                Cell::number(held.bytes),
                Cell::number(held.count),
            ]);
        }
    }
}

pub(super) const SEGMENTS: &str = "device address bytes allocated_bytes active_bytes blocks segment_type stream pool \
     is_expandable stack title frames";

pub(super) fn segments(subject: &Subject<'_>, row: &mut Rows<'_>) {
    for &(device, _) in subject.devices {
        for segment in &device.segments.segments {
            let (first, end) = segment.blocks;
            row(&[
                Cell::number(device.index),
                Cell::Address(segment.addr),
                Cell::number(segment.size_bytes),
                Cell::number(segment.allocated_bytes),
                Cell::number(segment.active_bytes),
                Cell::number(end - first),
                Cell::text(segment.segment_type.name()),
                if segment.stream == 0 { Cell::number(0) } else { Cell::text(format::address(segment.stream)) },
                segment.pool.map_or(Cell::Nothing, |PoolId(first, second)| Cell::text(format!("{first} {second}"))),
                segment.is_expandable.map_or(Cell::Nothing, Cell::Flag),
                Cell::stack(segment.stack),
                if segment.stack.has_frames() { Cell::text(subject.title(segment.stack)) } else { Cell::Nothing },
                Cell::Frames(segment.stack),
            ]);
        }
    }
}

pub(super) const FRAMES: &str = "stack depth name filename line";

pub(super) fn frames(subject: &Subject<'_>, row: &mut Rows<'_>) {
    for stack in subject.trace.stacks.ids() {
        for (depth, (name, filename, line)) in subject.frames(stack).enumerate() {
            row(&[
                Cell::stack(stack),
                Cell::number(depth as i64),
                Cell::text(name),
                Cell::text(filename),
                Cell::number(line),
            ]);
        }
    }
}

pub(super) const STEPS: &str = "device step first_event last_event start_us end_us peak_live_bytes peak_event \
     end_live_bytes peak_reserved_bytes";

pub(super) fn steps(subject: &Subject<'_>, row: &mut Rows<'_>) {
    for study in subject.studies() {
        let (device, timeline) = (study.device, study.timeline);
        for (index, step) in study.steps.iter().flat_map(|steps| &steps.steps).enumerate() {
            let (peak_moment, peak_live_bytes) = timeline.live_max_in(step.start..step.end + 1);
            row(&[
                Cell::number(device.index),
                Cell::number(index as i64),
                Cell::number(step.start),
                Cell::number(Moment(step.end).event_number()),
                time_us(device, timeline, step.start + 1),
                time_us(device, timeline, step.end),
                Cell::number(peak_live_bytes),
                Cell::number(Moment(peak_moment).event_number()),
                Cell::number(timeline.live_at(step.end)),
                Cell::number(timeline.reserved_max_in(step.start..step.end + 1).1),
            ]);
        }
    }
}

pub(super) const FINDINGS: &str =
    "code severity confidence device bytes title shows advice events stack frames parts steps why";

pub(super) fn findings(subject: &Subject<'_>, row: &mut Rows<'_>) {
    for (finding, parts) in subject.findings() {
        let parts: Vec<String> = parts.iter().map(FindingPart::text).collect();
        let steps = finding.advice.steps.iter().zip(1..);
        let steps: Vec<String> = steps.map(|(step, number)| format!("{number}. {}", step.text)).collect();
        let stack = finding.evidence.stacks.first().copied().unwrap_or(StackId::NONE);
        row(&[
            Cell::text(finding.code.name()),
            Cell::text(finding.severity.name()),
            Cell::text(finding.confidence.name()),
            Cell::number(finding.device),
            Cell::number(finding.bytes),
            Cell::text(finding.title),
            Cell::text(finding.evidence.shows),
            Cell::text(finding.advice.text()),
            Cell::Numbers(finding.evidence.events),
            Cell::stack(stack),
            Cell::Frames(stack),
            Cell::text(parts.join("; ")),
            Cell::text(steps.join(" ")),
            Cell::text(finding.advice.why),
        ]);
    }
}
