//! Measures how much of the peak growth has filled, and what the peak would be without it.

use super::super::finding::AtPeak;
use crate::analysis::study::growth::Kept;
use crate::analysis::study::studied::Study;
use crate::trace::StackId;
use hashbrown::HashSet;

/// Returns what earlier steps have left in `rows` at the peak, and the highest live bytes of any step without it.
///
/// A step's own tensors do not count as left, since the step needs them.
pub(super) fn at_peak(study: &Study<'_>, rows: &[&Kept]) -> AtPeak {
    let (device, timeline) = (study.device, study.timeline);
    let allocations = &timeline.allocations;
    let starts: Vec<u32> = study.repeats().iter().map(|step| step.start).collect();
    let Some(&first) = starts.first() else { return AtPeak::default() };
    let ends = starts[1..].iter().copied().chain([timeline.events() + 1]);
    let highest: Vec<(u32, u64)> =
        starts.iter().zip(ends).map(|(&start, end)| timeline.live_max_in(start..end.max(start + 1))).collect();
    let keys: HashSet<(StackId, Option<u64>)> = rows.iter().map(|kept| (kept.stack, kept.size_bytes)).collect();
    // Changes of what is left at the highest moment of each step.
    let mut changes = vec![0i64; starts.len() + 1];
    for id in allocations.ids().filter(|&id| allocations.born_at(id.0) > first) {
        let (stack, size_bytes) = (allocations.allocation_stack(id, device), allocations.size_bytes(id));
        let key = if stack.has_frames() { (stack, None) } else { (StackId::NONE, Some(size_bytes)) };
        if keys.contains(&key) {
            let next = starts.partition_point(|&start| start < allocations.born_at(id.0));
            let gone = highest.partition_point(|&(moment, _)| moment < allocations.died[id.index()]).max(next);
            changes[next] += size_bytes as i64;
            changes[gone] -= size_bytes as i64;
        }
    }
    let mut left = 0;
    let mut at_peak = AtPeak { bytes: 0, rest_bytes: timeline.live_max_in(0..first.max(1)).1 };
    for (&(moment, live), change) in highest.iter().zip(changes) {
        left += change;
        let left = u64::try_from(left).unwrap_or(0);
        at_peak.rest_bytes = at_peak.rest_bytes.max(live.saturating_sub(left));
        if moment == timeline.live_peak().0 {
            at_peak.bytes = left;
        }
    }
    at_peak
}
