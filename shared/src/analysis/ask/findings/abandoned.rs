//! Finds tensors of an attempt that ran out of memory and that are still alive during the next attempt.
//!
//! A caught exception holds its traceback, and the traceback holds the frames of the failed call with all their
//! tensors. A smaller batch that runs within the `except` block, or while something refers to the exception, therefore
//! has less room than the first.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank};
use super::own_code::{Own, own_line, phase_of, row_of};
use crate::analysis::study::phases::Phase;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::AllocationId;
use crate::base::{Severity, format};
use crate::trace::{Action, StackId};
use hashbrown::HashSet;

/// Remains below 1/20 of the peak are not reported, because they do no harm.
const LEAST_SHARE: u64 = 20;

/// Failures beyond this number are not examined: they show nothing new, and each costs a search of the live
/// allocations.
const MOST_FAILURES: usize = 16;

/// Reports the failure that leaves the most bytes.
pub(super) fn finding(study: &Study<'_>) -> Option<Finding> {
    let actions = study.device.events.actions();
    let failures = (0..study.timeline.events()).filter(|&event| actions.at(event as usize) == Action::Oom);
    let failures = failures.take(MOST_FAILURES);
    let (bytes, event, rows) = failures.filter_map(|event| left_by(study, event)).max_by_key(|found| found.0)?;
    if bytes.saturating_mul(LEAST_SHARE) < study.timeline.live_peak().1 {
        return None;
    }
    let what = format!("The attempt that ran out of memory still holds {} in the next one", format::bytes(bytes));
    let shows = format!(
        "Tensors that the forward pass had allocated before the failure at event {} are still alive when the same code \
         allocates again.",
        format::count(u64::from(event))
    );
    let (device, code) = (study.device.index, FindingCode::FailedTryKept);
    let found = Finding::new(device, code, Severity::Error, Confidence::High, Rank::Retry, bytes);
    let own = own_line(study, rows.iter().copied(), Own::Call);
    Some(found.placed(&what, ", in ", own).shown(shows, [event], rows).advised(
        "Leave the `except` block before you try again.\n\
         Keep no reference to the exception: set `error = None`, or store `str(error)`.\n\
         Then call ``gc.collect(); torch.cuda.empty_cache()``.\n\n\
         The traceback of the exception refers to the frames of the failed call, and the frames refer to the tensors.",
    ))
}

/// Bytes by the stack that allocated them.
type Places = Vec<(u64, StackId)>;

/// Returns what is still alive of a failed attempt when its code runs again: its bytes, the failure, and its parts.
fn left_by(study: &Study<'_>, failure: u32) -> Option<(u64, u32, Places)> {
    let allocations = &study.timeline.allocations;
    let (actions, stacks) = (study.device.events.actions(), study.device.events.stacks());
    let is_of_pass = |id: &AllocationId| {
        !allocations.is_initial(*id) && matches!(phase_of(study, *id), Phase::Forward | Phase::Evaluation)
    };
    let tried: Vec<AllocationId> = allocations.alive_at(failure).map(|row| row.0).filter(is_of_pass).collect();
    let of_try: HashSet<StackId> = tried.iter().map(|&id| row_of(study, id).1).collect();
    let runs_again = |event: &u32| {
        let event = *event as usize;
        actions.at(event) == Action::Alloc && of_try.contains(&stacks.at(event))
    };
    let again = (failure + 1..study.timeline.events()).find(runs_again)?;
    let left = tried.into_iter().filter(|&id| allocations.dies_after(id, again));
    let rows: Vec<(u64, StackId)> = left.map(|id| row_of(study, id)).collect();
    Some((rows.iter().map(|row| row.0).sum(), failure, rows))
}
