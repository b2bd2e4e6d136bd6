//! Result of a run of a script on one machine.

use std::collections::BTreeMap;

use shared::api::{RunReport, RunStatus, RunsReport};
use shared::job::Cards;

use super::super::output;

/// A run of the script on one machine.
pub(super) struct Ran {
    pub(super) cards: Cards,
    /// Status of all processes together.
    pub(super) status: RunStatus,
    /// One for each process that used CUDA, or else one for the script.
    pub(super) runs: Vec<RunReport>,
    /// Line that first called a function that is not modeled, by the function.
    pub(super) callers: BTreeMap<String, String>,
    /// Reason why the values of the script were not followed.
    pub(super) without_values: Option<String>,
    /// Parts of the hook that failed.
    pub(super) failures: Vec<String>,
    /// Sentences about what was answered without being known, each once.
    pub(super) notes: Vec<String>,
    /// True if values were not followed inside of compiled code.
    pub(super) is_compiled: bool,
    /// Sentences about memory that is not counted.
    pub(super) uncounted: Vec<String>,
    /// Last lines of the virtual GPU's log, if the script failed.
    pub(super) log: Vec<String>,
}

/// Returns the document of `--json`.
pub(super) fn document(found: Vec<Ran>) -> String {
    let report = RunsReport { runs: found.into_iter().flat_map(|ran| ran.runs).collect() };
    output::document(&report)
}

/// Returns the memory of the smallest card of a machine.
pub(super) fn capacity(cards: &Cards) -> u64 {
    cards.0.iter().map(|card| card.memory_bytes).min().unwrap_or(0)
}

/// Ranks statuses by how much they say against the script: of several cards, the worst decides the exit status.
pub(in crate::commands) fn weight(status: RunStatus) -> u8 {
    match status {
        RunStatus::Fits => 0,
        RunStatus::OutOfMemory => 1,
        RunStatus::Failed => 2,
        RunStatus::Unsupported => 3,
    }
}

/// Returns the status of all processes of a run: if memory runs out in one, errors of the others follow from it.
pub(in crate::commands) fn overall(runs: &[RunReport]) -> RunStatus {
    let has = |status: &RunStatus| runs.iter().any(|run| run.status == *status);
    let worst_first = [RunStatus::OutOfMemory, RunStatus::Unsupported, RunStatus::Failed];
    worst_first.into_iter().find(has).unwrap_or(RunStatus::Fits)
}
