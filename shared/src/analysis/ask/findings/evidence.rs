//! Chooses the events and stacks that show what a finding says.

use crate::analysis::study::growth::Kept;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::Origin;
use crate::trace::StackId;
use std::cmp::Reverse;

/// Evidence for a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// How the finding was reached, in a sentence.
    pub shows: String,
    /// Indices of events to look at.
    pub events: Vec<u32>,
    /// Stacks to look at, most bytes first; for a failed request its own stack comes first.
    pub stacks: Vec<StackId>,
}

/// Events or stacks listed with a finding, as many as a reader looks at.
pub(super) const MOST_SHOWN: usize = 5;

/// Returns the events that allocated the latest allocation of each row.
pub(super) fn events_of(study: &Study<'_>, rows: &[&Kept]) -> Vec<u32> {
    let event = |kept: &&Kept| match study.timeline.allocations.origin(kept.latest?) {
        Origin::Event(event) => Some(event as u32),
        _ => None,
    };
    rows.iter().filter_map(event).take(MOST_SHOWN).collect()
}

/// Returns the stacks with the most bytes.
pub(super) fn top_stacks(rows: impl Iterator<Item = (u64, StackId)>) -> Vec<StackId> {
    let mut rows: Vec<_> = rows.filter(|(_, stack)| stack.has_frames()).collect();
    rows.sort_unstable_by_key(|&(bytes, stack)| (Reverse(bytes), stack));
    rows.dedup_by_key(|row| row.1);
    rows.truncate(MOST_SHOWN);
    rows.into_iter().map(|(_, stack)| stack).collect()
}
