//! The documents of several recordings of one config: `snapscope sweep --json` and `snapscope fit --json`.

use serde::{Deserialize, Serialize};

use super::{OutOfMemory, RecordingReport};

/// Each combination of a config with ranges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepReport {
    /// What the config is called.
    pub name: String,
    /// The keys that vary, slowest first.
    pub axes: Vec<String>,
    /// One recording each.
    pub rows: Vec<SweepRow>,
}

/// One combination and what its recording came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRow {
    /// Virtual cards as on the command line, or the real device.
    pub card: String,
    /// Number formats.
    pub precision: String,
    /// Whether activations are computed again in backward.
    pub checkpointing: bool,
    /// Tokens of a sample; `None` for a model that reads no sequences.
    pub sequence: Option<u64>,
    /// Samples of a micro batch.
    pub batch: u64,
    /// Total memory of the card, in bytes; `None` for a real one that was not reached.
    pub memory_bytes: Option<u64>,
    /// The figures; `None` where the recording failed.
    pub recording: Option<RecordingReport>,
    /// Why there are no figures; `None` where there are.
    pub failure: Option<String>,
}

/// The largest batch that fits a card, and the recordings that prove it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitReport {
    /// What the config is called.
    pub name: String,
    /// Virtual cards as on the command line, or the real device.
    pub card: String,
    /// Total memory of the card, in bytes; `None` for a real one that was not reached.
    pub memory_bytes: Option<u64>,
    /// The largest batch that was seen to fit; `None` where none did.
    pub batch: Option<u64>,
    /// The largest batch that the config can have, where no recording ran out of memory above `batch`.
    pub limit: Option<u64>,
    /// Batches that did not fit although a larger one did.
    pub gaps: Vec<u64>,
    /// Every recording that was made, by batch.
    pub probes: Vec<FitProbe>,
}

/// One recording of the search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitProbe {
    /// Samples of a micro batch.
    pub batch: u64,
    /// Highest rounded bytes of blocks in use.
    pub peak_allocated_bytes: u64,
    /// Highest bytes of segments.
    pub peak_reserved_bytes: u64,
    /// Where memory ran out, if it did.
    pub oom: Option<OutOfMemory>,
    /// What the recorder had to say, such as that PyTorch had to free its cache.
    pub messages: Vec<String>,
}
