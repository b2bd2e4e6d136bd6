//! Reads the file that `memray stats --json` writes.

use serde::Deserialize;
use std::collections::BTreeMap;

/// First key of the file.
const FIRST_KEY: &[u8] = b"\"total_num_allocations\"";

/// Longest file that is read; those of memray have some kilobytes.
const LONGEST_BYTES: usize = 16 << 20;

/// Figures of a whole run.
///
/// The locations and modules are those with the most memory or allocations of the whole run together, whether or not it
/// was freed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Stats {
    pub total_num_allocations: u64,
    pub total_bytes_allocated: u64,
    pub allocation_size_histogram: Vec<SizeRange>,
    /// Number of allocations by function, such as `MALLOC`.
    pub allocator_type_distribution: BTreeMap<String, u64>,
    pub top_allocations_by_size: Vec<LocationSize>,
    pub top_allocations_by_count: Vec<LocationCount>,
    /// From memray 1.20 on.
    pub top_modules_by_allocation_size: Vec<Module>,
    pub metadata: Metadata,
    /// True if the file is damaged or cut, so that nothing of it is known.
    #[serde(skip)]
    pub is_damaged: bool,
}

/// Allocations of a range of sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SizeRange {
    pub min_bytes: u64,
    /// Largest size in the range.
    pub max_bytes: u64,
    pub count: u64,
}

/// Line, such as `load:data.py:12`, with the bytes that it allocated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct LocationSize {
    pub location: String,
    pub size: u64,
}

/// Line with the number of its allocations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct LocationCount {
    pub location: String,
    pub count: u64,
}

/// Package or file of Python with what it allocated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Module {
    pub module: String,
    pub num_allocations: u64,
    pub total_bytes: u64,
}

/// What the header of the capture says, and its peak.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Metadata {
    pub peak_memory: u64,
    pub command_line: String,
    pub pid: i64,
    /// Dates, such as `2026-11-23 23:23:19.171000+00:00`.
    pub start_time: String,
    pub end_time: String,
}

/// Reader of the file.
#[derive(Debug, Default)]
pub(super) struct StatsReader(Vec<u8>);

/// Returns true if the beginning of a file is one of `memray stats --json`.
pub(super) fn is_stats(head: &[u8]) -> bool {
    let key = head.trim_ascii_start().strip_prefix(b"{").unwrap_or_default();
    key.trim_ascii_start().starts_with(FIRST_KEY)
}

impl StatsReader {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = LONGEST_BYTES - self.0.len();
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    pub(super) fn finish(self) -> Stats {
        serde_json::from_slice(&self.0).unwrap_or(Stats { is_damaged: true, ..Stats::default() })
    }
}
