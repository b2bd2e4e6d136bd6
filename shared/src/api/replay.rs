//! Defines the document of `snapscope replay --json`.

use serde::Serialize;

/// Result of a trace's requests under other settings or on another card.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayDocument {
    /// File as named on the command line.
    pub file: String,
    /// CUDA index.
    pub device: i64,
    /// Allocator settings, as `PYTORCH_CUDA_ALLOC_CONF` takes them; empty for the default ones.
    pub settings: String,
    /// Memory of the card; `null` if it has no limit.
    pub capacity_bytes: Option<u64>,
    /// Highest sum of requested bytes.
    pub peak_live_bytes: u64,
    /// Highest sum of rounded bytes in use.
    pub peak_allocated_bytes: u64,
    /// Highest sum of segment bytes.
    pub peak_reserved_bytes: u64,
    /// Share of the peak reserved bytes beyond the peak live bytes, `0.0..=1.0`: cache, pieces and rounding.
    pub fragmentation: f64,
    /// Number of successful calls of `cudaMalloc`.
    pub segment_allocs: u64,
    /// Number of calls of `cudaFree`.
    pub segment_frees: u64,
    /// Number of ranges mapped into expandable segments.
    pub maps: u64,
    /// Number of ranges unmapped from expandable segments.
    pub unmaps: u64,
    /// Number of requests for which the whole cache was given back.
    pub retries: u64,
    /// Number of garbage collections that gave memory back.
    pub collections: u64,
    /// Requests that failed; a program ends with the first that it does not catch.
    pub ooms: Vec<ReplayOomRow>,
    /// Live bytes from before the trace.
    pub initial_bytes: u64,
    /// Number of blocks from before the trace whose size or address is a guess.
    pub guessed_blocks: u64,
    /// Figures of the recording itself.
    pub recorded: ReplayRecorded,
    /// Comparison with the recording, if requested.
    pub verify: Option<ReplayVerification>,
    /// Sweep over other settings, cards and batches, if requested.
    pub sweep: Option<ReplaySweep>,
}

/// Figures of the recording itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayRecorded {
    /// Highest sum of requested bytes.
    pub peak_live_bytes: u64,
    /// Highest sum of segment bytes.
    pub peak_reserved_bytes: u64,
    /// Share of the peak reserved bytes beyond the peak live bytes, `0.0..=1.0`.
    pub fragmentation: f64,
    /// Number of calls that allocate memory from the driver or give it back; each stalls the program.
    pub driver_calls: u64,
    /// Number of requests that failed.
    pub ooms: u64,
}

impl ReplayRecorded {
    /// Returns the share of the peak reserved bytes beyond the peak live bytes; 0 if nothing is reserved.
    ///
    /// GMLake and STAlloc define fragmentation this way, but with active bytes in place of requested ones.
    pub fn fragmentation_of(peak_live_bytes: u64, peak_reserved_bytes: u64) -> f64 {
        match peak_reserved_bytes {
            0 => 0.0,
            reserved => reserved.saturating_sub(peak_live_bytes) as f64 / reserved as f64,
        }
    }
}

/// Result of a sweep over settings, cards and batches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplaySweep {
    /// All settings that were tried, those of the recording first.
    pub trials: Vec<ReplayTrial>,
    /// Best settings, as `PYTORCH_CUDA_ALLOC_CONF` takes them.
    pub best: Option<String>,
    /// Smallest card on which the requests fit under the best settings.
    pub smallest_card: Option<String>,
    /// Smallest card on which they fit under the settings of the recording.
    pub smallest_card_as_recorded: Option<String>,
    /// Factor by which the batch could grow on the given card under the best settings; an estimate.
    pub batch_factor: Option<f64>,
}

/// Result of the requests under some settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayTrial {
    /// Settings, as `PYTORCH_CUDA_ALLOC_CONF` takes them; empty for the default ones.
    pub settings: String,
    /// Highest sum of segment bytes.
    pub peak_reserved_bytes: u64,
    /// Number of calls that allocate memory from the driver or give it back.
    pub driver_calls: u64,
    /// Number of requests for which the whole cache was given back.
    pub retries: u64,
    /// Number of requests that failed.
    pub ooms: u64,
    /// Event of the trace whose request failed first.
    pub first_oom_event: Option<u64>,
}

/// Request that failed in a replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayOomRow {
    /// Event of the trace that made the request.
    pub event: u64,
    /// Rounded size of the request.
    pub size_bytes: u64,
    /// Bytes that the card had left.
    pub free_bytes: u64,
}

/// Comparison of a replay under the recorded settings with the recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayVerification {
    /// Number of segment events of the recording.
    pub recorded: u64,
    /// Number of those that were compared, up to the first difference.
    pub compared: u64,
    /// Number of those that were equal in action, address and size.
    pub equal: u64,
    /// Number of requests that were served before the first difference.
    pub requests: u64,
    /// Number of those requests whose block lay at the recorded address.
    pub same_address: u64,
    /// True if the blocks at the end are those of the snapshot, in address, size and state.
    pub same_blocks: bool,
    /// First segment event that was not equal.
    pub first_difference: Option<ReplayDifference>,
}

/// Segment event that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayDifference {
    /// Event of the trace.
    pub event: u64,
    /// Segment event of the recording, if it has one.
    pub recorded: Option<SegmentEventRow>,
    /// Segment event of the replay, if it has one.
    pub replayed: Option<SegmentEventRow>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SegmentEventRow {
    /// Name of the action in snapshot files.
    pub action: &'static str,
    pub addr: u64,
    pub size_bytes: u64,
}
