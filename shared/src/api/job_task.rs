//! Defines what a job does, and the results of one that makes several recordings.

use serde::{Deserialize, Serialize};

/// What a job does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobTask {
    /// It makes one recording and keeps its snapshot.
    #[default]
    Record,
    /// It searches for the largest batch that fits the GPU, with one recording for each batch that it tries.
    Fit,
    /// It records each combination of the ranges in the config's `sweep` table.
    Sweep,
}

impl JobTask {
    pub const ALL: [Self; 3] = [Self::Record, Self::Fit, Self::Sweep];

    /// Returns the word in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Fit => "fit",
            Self::Sweep => "sweep",
        }
    }

    /// Parses a task from its word in JSON.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|task| task.word() == word)
    }
}

/// One recording of a search or a sweep, which has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Recorded {
    /// What distinguishes it from the others: `batch 8`, or `card t4-16gb, batch 8`.
    pub label: String,
    /// Number of recordings that have ended so far, with this one.
    pub done: u64,
    /// Number of recordings of a sweep; `null` for a search, which does not know it in advance.
    pub total: Option<u64>,
    /// Highest bytes of segments; `null` if the recording failed.
    pub peak_reserved_bytes: Option<u64>,
    /// True if the recording ran out of memory.
    pub out_of_memory: bool,
    /// Reason why the recording failed; `null` if it did not.
    pub failure: Option<String>,
}

/// Result of a search or a sweep in a few numbers, for lists of jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskSummary {
    /// Number of recordings.
    pub recordings: u64,
    /// Number of those that did not run out of memory.
    pub fitting: u64,
    /// Number of those that failed for another reason.
    pub failed: u64,
    /// Largest batch that fits; `null` for a sweep, and if none does.
    pub largest_batch: Option<u64>,
}
