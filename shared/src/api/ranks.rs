//! The document of `snapscope ranks --json`.

use serde::Serialize;
use std::collections::BTreeMap;

/// The processes or devices of one job side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RanksReport {
    /// The ranks in their order.
    pub ranks: Vec<RankRow>,
    /// What is unusual about some of them.
    pub outliers: Vec<RankOutlier>,
}

/// One rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RankRow {
    /// Its number, from the file's name or else from the order.
    pub rank: u64,
    /// The file as it was named.
    pub file: String,
    /// The device index.
    pub device: i64,
    /// The highest live bytes.
    pub peak_live_bytes: u64,
    /// The first event after which they are live, -1 for the initial state.
    pub peak_event: i64,
    /// The highest reserved bytes.
    pub peak_reserved_bytes: u64,
    /// Live bytes at the peak by what they are for.
    pub peak_by_category: BTreeMap<&'static str, u64>,
    /// How many steps were found.
    pub steps: u64,
    /// By how many bytes a step ends higher than the one before, `null` without steps.
    pub growth_bytes_per_step: Option<u64>,
    /// How often memory was out.
    pub ooms: u64,
}

/// In what a rank is unlike the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RankOutlier {
    /// The rank.
    pub rank: u64,
    /// `peak`, `growth` or `out-of-memory`.
    pub kind: &'static str,
    /// How far above the median of all ranks it is; `null` for `out-of-memory`.
    pub delta_bytes: Option<i64>,
    /// The category that differs most, for `peak`.
    pub category: Option<&'static str>,
    /// How far that is above its median.
    pub category_delta_bytes: Option<i64>,
    /// The same in a sentence.
    pub message: String,
}
