//! Reports which operators of a trace of torch.profiler made the tensors at the peak, given a snapshot of the same run.

use super::log_table::{LogCell, LogTable};
use crate::analysis::{Origin, Timeline};
use crate::base::{StringId, format};
use crate::profile::{Allocated, Course, DeviceKind, MemoryEvent, Profile, matches};
use crate::trace::{Action, Device};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Least part of a trace's allocations that a snapshot of the same run has, as its inverse.
const LEAST_PART: usize = 2;

/// Operators behind the peak of one device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorsAtPeak {
    /// How much of both files belongs together, as a sentence.
    pub matched: String,
    /// Tensors at the peak by operator; `None` if the files are not of one run.
    pub table: Option<LogTable>,
}

/// What made a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Maker {
    /// Outermost operator.
    operator: Option<StringId>,
    /// Innermost function of the user's own code.
    function: Option<StringId>,
}

/// Tensors of one maker.
#[derive(Clone, Debug, Default)]
struct Group {
    bytes: u64,
    count: u64,
    /// Positions of the calls of the operator.
    calls: BTreeSet<u32>,
}

/// Finds the operators behind the peak of a snapshot's device while the profiler ran; `None` if the trace has no
/// allocations on the device.
pub fn operators_at_peak(device: &Device, timeline: &Timeline, profile: &Profile) -> Option<OperatorsAtPeak> {
    let is_same = |course: &&Course| course.kind == DeviceKind::Gpu && i64::from(course.index) == device.index;
    let course = profile.courses.iter().find(is_same)?;
    let rows = (0..device.events.len()).filter(|&event| device.events.at(event).action == Action::Alloc);
    let rows: Vec<usize> = rows.collect();
    let found = matches(course, rows.iter().map(|&event| allocated(device, event)));
    let (matched, of) = (format::count(found.matched as u64), format::counted(found.allocations as u64, "allocation"));
    if found.matched * LEAST_PART < found.allocations || found.matched == 0 {
        let few = "by address, size and time, too few for files of one run";
        let matched = format!("GPU {}: the snapshot has {matched} of the {of} of the trace {few}.", device.index);
        return Some(OperatorsAtPeak { matched, table: None });
    }
    let by_row: BTreeMap<usize, usize> =
        rows.into_iter().zip(&found.events).filter_map(|(row, event)| Some((row, (*event)?))).collect();
    let (moment, peak) = peak_within(timeline, &by_row)?;
    let live = live_at(timeline, moment, |row| by_row.get(&row).map(|&event| &course.events[event]));
    let known: u64 = live.iter().filter(|(_, event)| event.is_some()).map(|(bytes, _)| bytes).sum();
    let matched = format!(
        "GPU {}: the snapshot has {matched} of the {of} of the trace, by address and time (off by {:.1} µs in the \
         median). At the peak while the profiler ran, {} are live, of which {} were allocated in that time; the peak of \
         the whole snapshot is {}.",
        device.index,
        found.off_us,
        format::bytes(peak),
        format::bytes(known),
        format::bytes(timeline.live_peak().1)
    );
    Some(OperatorsAtPeak { matched, table: Some(table(device, profile, &live)) })
}

/// Returns the moment with the most live memory between the first and the last matched event, and its bytes.
fn peak_within(timeline: &Timeline, by_row: &BTreeMap<usize, usize>) -> Option<(u32, u64)> {
    let ((first, _), (last, _)) = (by_row.first_key_value()?, by_row.last_key_value()?);
    Some(timeline.live_max_in(*first as u32 + 1..*last as u32 + 2))
}

/// Returns the sizes of what is live at a moment, with the events of the trace that allocated it.
fn live_at<'a>(
    timeline: &Timeline,
    moment: u32,
    event_of: impl Fn(usize) -> Option<&'a MemoryEvent>,
) -> Vec<(u64, Option<&'a MemoryEvent>)> {
    let event = |id| match timeline.allocations.origin(id) {
        Origin::Event(row) => event_of(row),
        Origin::UnmatchedFree(_) | Origin::Block(_) => None,
    };
    let live = timeline.allocations.alive_at(moment);
    live.map(|(id, _)| (timeline.allocations.size_bytes_of(id), event(id))).collect()
}

fn allocated(device: &Device, event: usize) -> Allocated {
    let event = device.events.at(event);
    Allocated { time_us: event.time_us, addr: event.addr, size_bytes: event.size_bytes }
}

/// Lists the tensors by operator and function, the most memory first.
fn table(device: &Device, profile: &Profile, live: &[(u64, Option<&MemoryEvent>)]) -> LogTable {
    let mut groups: BTreeMap<Option<Maker>, Group> = BTreeMap::new();
    for (bytes, event) in live {
        let operation = event.and_then(|event| event.operation);
        let name = operation.and_then(|call| profile.operations.get(call as usize)).map(|call| call.name);
        let group = groups.entry(event.map(|event| Maker { operator: name, function: event.function })).or_default();
        (group.bytes, group.count) = (group.bytes + bytes, group.count + 1);
        group.calls.extend(operation);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| Reverse(group.bytes));
    let text = |id: StringId| LogCell::Text(profile.name(id).to_owned());
    let row = |(key, group): &(Option<Maker>, Group)| {
        let operator = match key {
            None => LogCell::Text("allocated before, or not in the trace".to_owned()),
            Some(Maker { operator: None, .. }) => LogCell::Text("outside of operators".to_owned()),
            Some(Maker { operator: Some(name), .. }) => text(*name),
        };
        let function = key.and_then(|maker| maker.function).map_or(LogCell::Nothing, text);
        let kernels = profile.has_kernels.then(|| kernels(profile, group));
        [operator, function, LogCell::Bytes(group.bytes), LogCell::Count(group.count)]
            .into_iter()
            .chain(kernels)
            .collect()
    };
    let columns = ["Operator", "Line of your code", "Memory", "Tensors"].into_iter();
    LogTable {
        title: format!("GPU {}: live at the peak while the profiler ran, by operator", device.index),
        columns: columns.chain(profile.has_kernels.then_some("Its kernels")).map(str::to_owned).collect(),
        rows: groups.iter().map(row).collect(),
        left_out: 0,
    }
}

/// Returns the time of the kernels that the calls behind a group launched.
fn kernels(profile: &Profile, group: &Group) -> LogCell {
    let calls = group.calls.iter().filter_map(|&call| profile.operations.get(call as usize));
    let sum_us: f64 = calls.map(|call| call.kernels_us).sum();
    if group.calls.is_empty() { LogCell::Nothing } else { LogCell::Text(format::duration(sum_us as u64)) }
}
