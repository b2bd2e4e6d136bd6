//! Defines the document of `snapscope ranks --json`.

use serde::Serialize;
use std::collections::BTreeMap;

/// Comparison of the processes or devices of one job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RanksReport {
    /// Ranks in ascending order.
    pub ranks: Vec<RankRow>,
    /// Unusual properties of some ranks.
    pub outliers: Vec<RankOutlier>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RankRow {
    /// Number of the rank, from the file's name or else from the order.
    pub rank: u64,
    /// File as named on the command line, or as found in a folder.
    pub file: String,
    /// CUDA index.
    pub device: i64,
    pub peak_live_bytes: u64,
    /// First event after which live bytes are highest, -1 for the initial state.
    pub peak_event: i64,
    pub peak_reserved_bytes: u64,
    /// Live bytes at the peak, by category.
    pub peak_by_category: BTreeMap<&'static str, u64>,
    /// Number of steps that were found.
    pub steps: u64,
    /// Bytes that each step adds; `null` without steps.
    pub growth_bytes_per_step: Option<u64>,
    /// Number of out-of-memory events.
    pub ooms: u64,
}

/// Difference between a rank and the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RankOutlier {
    pub rank: u64,
    /// `peak`, `growth` or `out-of-memory`.
    pub kind: &'static str,
    /// Bytes above the median of all ranks; `null` for `out-of-memory`.
    pub delta_bytes: Option<i64>,
    /// Category that differs most, for `peak`.
    pub category: Option<&'static str>,
    /// Bytes of that category above its median.
    pub category_delta_bytes: Option<i64>,
    /// Sentence that says the same.
    pub message: String,
}
