//! Defines the documents of `snapscope sweep --json` and `snapscope fit --json`, and of jobs with these tasks.

use serde::{Deserialize, Serialize};

use super::{OutOfMemory, RecordingReport};

/// Results of all combinations of a config with ranges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SweepReport {
    /// Name of the config.
    pub name: String,
    /// Keys that vary, slowest first.
    pub axes: Vec<String>,
    /// One row for each combination.
    pub rows: Vec<SweepRow>,
}

/// One combination and the result of its recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SweepRow {
    /// Virtual cards as on the command line, or the real device.
    pub card: String,
    /// Number format, such as `autocast-bf16`.
    pub precision: String,
    /// True if activations are recomputed in backward.
    pub checkpointing: bool,
    /// Tokens per sample; `None` for a model that reads no sequences.
    pub sequence: Option<u64>,
    /// Samples per micro batch.
    pub batch: u64,
    /// Total memory of the card, in bytes; `None` for a real GPU that was not reached.
    pub memory_bytes: Option<u64>,
    /// Figures of the recording; `None` if it failed.
    pub recording: Option<RecordingReport>,
    /// Reason why the recording failed; `None` if it did not.
    pub failure: Option<String>,
}

/// Largest batch that fits a card, and the recordings that prove it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FitReport {
    /// Name of the config.
    pub name: String,
    /// Virtual cards as on the command line, or the real device.
    pub card: String,
    /// Total memory of the card, in bytes; `None` for a real GPU that was not reached.
    pub memory_bytes: Option<u64>,
    /// Largest batch that fitted in a recording; `None` if none did.
    pub batch: Option<u64>,
    /// Largest batch that the config allows, if no recording of a larger batch than `batch` ran out of memory.
    pub limit: Option<u64>,
    /// Batches that did not fit although a larger one did.
    pub gaps: Vec<u64>,
    /// All recordings, by batch.
    pub probes: Vec<FitProbe>,
}

/// One recording of the search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FitProbe {
    /// Samples per micro batch.
    pub batch: u64,
    /// Highest rounded bytes of blocks in use.
    pub peak_allocated_bytes: u64,
    /// Highest bytes of segments.
    pub peak_reserved_bytes: u64,
    /// Out-of-memory error that ended the recording, if there was one.
    pub oom: Option<OutOfMemory>,
    /// Messages of the recorder, such as that PyTorch had to free its cache.
    pub messages: Vec<String>,
}
