//! Counts what happened in a history.

use std::fmt;

use shared::api::JobState;

use super::ledger::Ledger;
use super::model::Job;
use super::plan::Step;

/// Counts of one or more histories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    pub kills: usize,
    /// Faults that kill no process.
    pub other_faults: usize,
    pub jobs: usize,
    /// Jobs that finished, failed and were cancelled, without those that were deleted.
    pub ends: [usize; 3],
    /// Jobs that were started more than once.
    pub begun_again: usize,
    /// Jobs and links that were deleted.
    pub deleted: usize,
    pub links: usize,
    /// Events that were received while they happened.
    pub events: usize,
    /// Objects in the store at the end.
    pub objects: usize,
    /// Objects without a row, which housekeeping moved to the trash.
    pub discarded: usize,
}

impl Figures {
    /// Counts the faults and what the clients were promised.
    pub(super) fn of(steps: &[Step], ledger: &Ledger<'_>) -> Self {
        let ended = |state| ledger.jobs.iter().filter(|job| !job.is_deleted && job.end_state() == Some(state)).count();
        let runs = |job: &&Job| job.end.as_ref().and_then(|end| end["attempts"].as_u64()) > Some(1);
        let deleted_jobs = ledger.jobs.iter().filter(|job| job.is_deleted).count();
        Self {
            other_faults: steps.iter().filter(|step| step.fault.kills() == 0).count(),
            jobs: ledger.jobs.len(),
            ends: [JobState::Finished, JobState::Failed, JobState::Cancelled].map(ended),
            begun_again: ledger.jobs.iter().filter(runs).count(),
            deleted: deleted_jobs + ledger.links.iter().filter(|(link, _)| link.is_deleted).count(),
            links: ledger.links.len(),
            events: ledger.jobs.iter().map(|job| job.events.len()).sum(),
            ..Self::default()
        }
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        Self {
            kills: self.kills + other.kills,
            other_faults: self.other_faults + other.other_faults,
            jobs: self.jobs + other.jobs,
            ends: std::array::from_fn(|index| self.ends[index] + other.ends[index]),
            begun_again: self.begun_again + other.begun_again,
            deleted: self.deleted + other.deleted,
            links: self.links + other.links,
            events: self.events + other.events,
            objects: self.objects + other.objects,
            discarded: self.discarded + other.discarded,
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, other_faults, jobs, ends: [finished, failed, cancelled], .. } = self;
        write!(f, "{kills} kills, {other_faults} other faults; {jobs} jobs ({finished} finished, {failed} failed, ")?;
        let Self { begun_again, deleted, links, events, objects, discarded, .. } = self;
        write!(f, "{cancelled} cancelled, {begun_again} begun again), {links} links, {deleted} of both deleted; ")?;
        write!(f, "{events} events followed, {objects} objects in the end, {discarded} without a row")
    }
}
