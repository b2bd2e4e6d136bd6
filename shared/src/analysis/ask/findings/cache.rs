//! Finds a cache of segments that is emptied again and again.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, MOST_SHOWN, Rank};
use super::own_code::{Own, line_of, texts_of};
use crate::analysis::study::studied::Study;
use crate::base::{Severity, format};
use crate::trace::{Action, EventTable, StackId};

/// The cache must be emptied in at least 4/5 of the steps.
const LEAST_STEPS: usize = 5;

/// Consecutive events that return segments to CUDA.
struct Release {
    first: u32,
    /// Index of the first event after them.
    end: u32,
    bytes: u64,
    stack: StackId,
}

/// Reports segments that are returned to CUDA in most steps and requested again.
pub(super) fn finding(study: &Study<'_>) -> Option<Finding> {
    let repeats = study.repeats();
    let events = &study.device.events;
    // PyTorch empties the cache itself before it captures a CUDA graph.
    let is_of_capture =
        |stack| texts_of(study.trace, stack).any(|(_, filename)| filename.ends_with("torch/cuda/graphs.py"));
    let is_by_program = |release: &Release| is_by_hand(events, release) && !is_of_capture(release.stack);
    let releases: Vec<Release> = releases(events).into_iter().filter(is_by_program).collect();
    let end = events.len() as u32;
    let of_step = |moment: u32| repeats.partition_point(|step| step.end < moment);
    let mut emptied: Vec<usize> = releases.iter().map(|release| of_step(release.first + 1)).collect();
    emptied.dedup();
    let again: u64 = asked_for(events, releases.first().map_or(end, |release| release.end));
    if emptied.len() < 2 || emptied.len() * LEAST_STEPS < repeats.len() * (LEAST_STEPS - 1) || again == 0 {
        return None;
    }
    let bytes = releases.iter().map(|release| release.bytes).sum::<u64>() / emptied.len() as u64;
    let line = releases.iter().find_map(|release| line_of(study, release.stack, Own::Innermost));
    // In a run without training, emptying the cache between layers or batches may be intended.
    let (severity, noun) = if study.steps.is_some() { (Severity::Warning, "step") } else { (Severity::Info, "repeat") };
    let is_told = releases.iter().all(|release| release.stack.has_frames());
    let confidence = if is_told { Confidence::High } else { Confidence::Low };
    let what = format!(
        "PyTorch's cache is emptied in {} of {}, {} each time",
        emptied.len(),
        format::counted(repeats.len() as u64, noun),
        format::bytes(bytes)
    );
    let shows = format!(
        "PyTorch returns segments to CUDA although no allocation needs the memory, and later requests {} from CUDA again.",
        format::bytes(again)
    );
    let firsts = releases.iter().map(|release| release.first).take(MOST_SHOWN);
    let rows = releases.iter().map(|release| (release.bytes, release.stack));
    let found = Finding::new(study.device.index, FindingCode::CacheEmptied, severity, confidence, Rank::Cause, bytes);
    Some(found.placed(&what, ", in ", line).shown(shows, firsts, rows).advised(
        "Remove `torch.cuda.empty_cache()` from the loop.\n\n\
         It makes PyTorch call `cudaFree` and `cudaMalloc` in every step, which wait for the GPU, and it does not \
         lower the peak. PyTorch empties its cache by itself before it raises an out-of-memory error.",
    ))
}

/// Returns the runs of consecutive events that return segments to CUDA.
fn releases(events: &EventTable) -> Vec<Release> {
    let mut releases: Vec<Release> = Vec::new();
    for event in 0..events.len() as u32 {
        if !matches!(events.actions().at(event as usize), Action::SegmentFree | Action::SegmentUnmap) {
            continue;
        }
        let row = events.at(event as usize);
        match releases.last_mut().filter(|last| last.end == event) {
            Some(last) => {
                last.end = event + 1;
                last.bytes = last.bytes.saturating_add(row.size_bytes);
            }
            None => {
                releases.push(Release { first: event, end: event + 1, bytes: row.size_bytes, stack: row.stack });
            }
        }
    }
    releases
}

/// Returns true if no allocation caused the release: it would then request memory from CUDA, or fail, with the same
/// stack.
fn is_by_hand(events: &EventTable, release: &Release) -> bool {
    if release.end as usize >= events.len() {
        return true;
    }
    let next = events.at(release.end as usize);
    let asks = matches!(next.action, Action::SegmentAlloc | Action::SegmentMap | Action::Oom);
    !(asks && next.stack == release.stack)
}

/// Returns the bytes of segments that are requested from CUDA from an event on.
fn asked_for(events: &EventTable, from: u32) -> u64 {
    let is_ask = |&event: &usize| matches!(events.actions().at(event), Action::SegmentAlloc | Action::SegmentMap);
    let asks = (from as usize..events.len()).filter(is_ask);
    asks.map(|event| events.sizes_bytes().at(event)).fold(0, u64::saturating_add)
}
