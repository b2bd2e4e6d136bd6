//! Reports which operators of a trace of torch.profiler made the tensors at the peak, given a snapshot of the same run.

use crate::torch_profiler::{Allocated, Made, MadeOn, Makers, matches};
use serde::{Deserialize, Serialize};
use shared::analysis::{Origin, Timeline};
use shared::base::{ShortSort, format};
use shared::report::{LogCell, LogTable};
use shared::trace::{Action, Device};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Least part of a trace's allocations that a snapshot of the same run has, as its inverse.
const LEAST_PART: usize = 2;

/// Operators behind the peak of one device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorsAtPeak {
    /// How much of both files belongs together, as a sentence.
    pub matched: String,
    /// Tensors at the peak by operator; `None` if the files are not of one run.
    pub table: Option<LogTable>,
}

#[derive(Clone, Debug, Default)]
struct Group {
    bytes: u64,
    count: u64,
    /// Positions of the calls of the operator.
    calls: BTreeSet<u32>,
}

/// Finds the operators behind the peak of a snapshot's device while the profiler ran; `None` if the trace has no
/// allocations on the device.
pub fn operators_at_peak(device: &Device, timeline: &Timeline, makers: &Makers) -> Option<OperatorsAtPeak> {
    let is_same = |on: &&MadeOn| i64::from(on.index) == device.index && !on.allocations.is_empty();
    let made = &makers.devices.iter().find(is_same)?.allocations;
    let rows = (0..device.events.len()).filter(|&event| device.events.at(event).action == Action::Alloc);
    let rows: Vec<usize> = rows.collect();
    let allocated = rows.iter().map(|&row| {
        let event = device.events.at(row);
        Allocated { time_us: event.time_us, addr: event.addr, size_bytes: event.size_bytes }
    });
    let found = matches(made, allocated);
    let (matched, of) = (format::count(found.matched as u64), format::counted(made.len() as u64, "allocation"));
    if found.matched * LEAST_PART < made.len() || found.matched == 0 {
        let few = "by address, size and time, too few for files of one run";
        let matched = format!("GPU {}: the snapshot has {matched} of the {of} of the trace {few}.", device.index);
        return Some(OperatorsAtPeak { matched, table: None });
    }
    let by_row: BTreeMap<usize, usize> =
        rows.into_iter().zip(&found.found).filter_map(|(row, position)| Some((row, (*position)?))).collect();
    let ((first, _), (last, _)) = (by_row.first_key_value()?, by_row.last_key_value()?);
    let (moment, peak) = timeline.live_max_in(*first as u32 + 1..*last as u32 + 2);
    let live = live_at(timeline, moment, |row| by_row.get(&row).map(|&position| &made[position]));
    let known: u64 = live.iter().filter(|(_, made)| made.is_some()).map(|(bytes, _)| bytes).sum();
    let [peak, known, whole] = [peak, known, timeline.live_peak().1].map(format::bytes);
    let matched = format!(
        "GPU {}: the snapshot has {matched} of the {of} of the trace, by address and time (off by {:.1} µs in the \
         median). At the peak while the profiler ran, {peak} are live, of which {known} were allocated in that time; \
         the peak of the whole snapshot is {whole}.",
        device.index, found.off_us
    );
    Some(OperatorsAtPeak { matched, table: Some(table(device, makers, &live)) })
}

/// Returns the sizes of what is live at a moment, with the allocations of the trace.
fn live_at<'a>(
    timeline: &Timeline,
    moment: u32,
    made_in: impl Fn(usize) -> Option<&'a Made>,
) -> Vec<(u64, Option<&'a Made>)> {
    let made = |id| match timeline.allocations.origin(id) {
        Origin::Event(row) => made_in(row),
        Origin::UnmatchedFree(_) | Origin::Block(_) => None,
    };
    let live = timeline.allocations.alive_at(moment);
    live.map(|(id, _)| (timeline.allocations.size_bytes_of(id), made(id))).collect()
}

/// Lists the tensors by operator and function, the most memory first.
fn table(device: &Device, makers: &Makers, live: &[(u64, Option<&Made>)]) -> LogTable {
    let mut groups: BTreeMap<Option<u32>, Group> = BTreeMap::new();
    for (bytes, made) in live {
        let group = groups.entry(made.map(|made| made.maker)).or_default();
        (group.bytes, group.count) = (group.bytes + bytes, group.count + 1);
        group.calls.extend(made.and_then(|made| made.call));
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.short_sort_by_key(|(_, group)| Reverse(group.bytes));
    let row = |(key, group): &(Option<u32>, Group)| {
        let maker = key.and_then(|maker| makers.makers.get(maker as usize));
        let operator = match maker.map(|maker| maker.operator.as_deref()) {
            None => "allocated before, or not in the trace",
            Some(None) => "outside of operators",
            Some(Some(name)) => name,
        };
        let function = maker.and_then(|maker| maker.function.clone()).map_or(LogCell::Nothing, LogCell::Text);
        let kernels = makers.has_kernels.then(|| kernels(makers, group));
        [LogCell::Text(operator.to_owned()), function, LogCell::Bytes(group.bytes), LogCell::Count(group.count)]
            .into_iter()
            .chain(kernels)
            .collect()
    };
    let columns = ["Operator", "Line of your code", "Memory", "Tensors"].into_iter();
    LogTable::new(
        format!("GPU {}: live at the peak while the profiler ran, by operator", device.index),
        columns.chain(makers.has_kernels.then_some("Its kernels")),
        groups.iter().map(row),
    )
}

/// Returns the time of the kernels that the calls behind a group launched.
fn kernels(makers: &Makers, group: &Group) -> LogCell {
    let sum_us: f64 = group.calls.iter().filter_map(|&call| makers.kernels_us.get(call as usize)).sum();
    if group.calls.is_empty() { LogCell::Nothing } else { LogCell::Text(format::duration(sum_us as u64)) }
}
