//! The document of `snapscope replay --json`.

use serde::Serialize;

/// What a trace's requests come to under other settings or on another card.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayDocument {
    /// The file as it was named.
    pub file: String,
    /// The device index.
    pub device: i64,
    /// The allocator's settings, as `PYTORCH_CUDA_ALLOC_CONF` takes them; empty for the default ones.
    pub settings: String,
    /// The card's memory, `null` where it has no limit.
    pub capacity_bytes: Option<u64>,
    /// The highest sum of requested bytes.
    pub peak_live_bytes: u64,
    /// The highest sum of rounded bytes in use.
    pub peak_allocated_bytes: u64,
    /// The highest sum of segments.
    pub peak_reserved_bytes: u64,
    /// The share of the peak reserved bytes that lies beyond the peak live bytes: cache, pieces and rounding.
    pub fragmentation: f64,
    /// Calls of `cudaMalloc` that succeeded.
    pub segment_allocs: u64,
    /// Calls of `cudaFree`.
    pub segment_frees: u64,
    /// Ranges mapped into expandable segments.
    pub maps: u64,
    /// Ranges unmapped from expandable segments.
    pub unmaps: u64,
    /// Requests for which the whole cache was given back.
    pub retries: u64,
    /// Garbage collections that gave something back.
    pub collections: u64,
    /// Requests that failed; a program ends with the first that it does not catch.
    pub ooms: Vec<ReplayOomRow>,
    /// Live bytes from before the trace.
    pub initial_bytes: u64,
    /// Blocks from before the trace whose size or place is a guess.
    pub guessed_blocks: u64,
    /// The same of the recording itself.
    pub recorded: ReplayRecorded,
    /// The comparison with the recording, where it was asked for.
    pub verify: Option<ReplayVerification>,
    /// What other settings, cards and batches would come to, where it was asked for.
    pub sweep: Option<ReplaySweep>,
}

/// What the recording itself came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayRecorded {
    /// The highest sum of requested bytes.
    pub peak_live_bytes: u64,
    /// The highest sum of segments.
    pub peak_reserved_bytes: u64,
    /// The share of the peak reserved bytes that lies beyond the peak live bytes.
    pub fragmentation: f64,
    /// Calls that fetch memory from the driver or give it back; each stalls the program.
    pub driver_calls: u64,
    /// Requests that failed.
    pub ooms: u64,
}

impl ReplayRecorded {
    /// The share of peak reserved bytes that lies beyond the peak live bytes; 0 where nothing is reserved.
    ///
    /// This is fragmentation as GMLake and STAlloc define it, with requested bytes for the active ones.
    pub fn fragmentation_of(peak_live_bytes: u64, peak_reserved_bytes: u64) -> f64 {
        match peak_reserved_bytes {
            0 => 0.0,
            reserved => reserved.saturating_sub(peak_live_bytes) as f64 / reserved as f64,
        }
    }
}

/// What a sweep over settings, cards and batches found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplaySweep {
    /// Each setting that was tried; that of the recording is the first.
    pub trials: Vec<ReplayTrial>,
    /// The best settings, as `PYTORCH_CUDA_ALLOC_CONF` takes them.
    pub best: Option<String>,
    /// The smallest card that has room under the best settings.
    pub smallest_card: Option<String>,
    /// The smallest card under the settings of the recording.
    pub smallest_card_as_recorded: Option<String>,
    /// How many times the batch fits on the given card under the best settings; an estimate.
    pub batch_factor: Option<f64>,
}

/// What the requests come to under some settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayTrial {
    /// The settings, as `PYTORCH_CUDA_ALLOC_CONF` takes them; empty for the default ones.
    pub settings: String,
    /// The highest sum of segments.
    pub peak_reserved_bytes: u64,
    /// Calls that fetch memory from the driver or give it back.
    pub driver_calls: u64,
    /// Requests for which the whole cache was given back.
    pub retries: u64,
    /// Requests that failed.
    pub ooms: u64,
    /// The event of the trace whose request failed first.
    pub first_oom_event: Option<u64>,
}

/// A request that failed in a replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayOomRow {
    /// The event of the trace that asked.
    pub event: u64,
    /// The rounded request.
    pub size_bytes: u64,
    /// What the card had left.
    pub free_bytes: u64,
}

/// How a replay under the recorded settings compares with the recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayVerification {
    /// Segment events of the recording.
    pub recorded: u64,
    /// Those that were compared.
    pub compared: u64,
    /// Those that were equal in action, address and size.
    pub equal: u64,
    /// Requests that were served.
    pub requests: u64,
    /// Those of them whose block lay at the recorded address.
    pub same_address: u64,
    /// Whether the blocks at the end are those of the snapshot.
    pub same_blocks: bool,
    /// The first segment event that was not equal.
    pub first_difference: Option<ReplayDifference>,
}

/// A segment event that came out otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayDifference {
    /// The event of the trace.
    pub event: u64,
    /// What was recorded.
    pub recorded: Option<SegmentEventRow>,
    /// What the replay did.
    pub replayed: Option<SegmentEventRow>,
}

/// A segment event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SegmentEventRow {
    /// The action's name in snapshot files.
    pub action: &'static str,
    /// The address.
    pub addr: u64,
    /// The size.
    pub size_bytes: u64,
}
