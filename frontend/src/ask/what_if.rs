//! Defines the questions about replays with other settings or on another card, and their answers.

use serde::{Deserialize, Serialize};

/// Settings and card for a replay of a device's requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhatIfSetup {
    /// Settings of the allocator, in the syntax of `PYTORCH_CUDA_ALLOC_CONF`.
    pub conf: String,
    /// Memory of the card in bytes, `None` for an unlimited card.
    pub capacity_bytes: Option<u64>,
    /// Bytes of the card that the CUDA context, other libraries and other processes use.
    pub elsewhere_bytes: u64,
}

/// Asks for the settings and the card of the recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetRecordedSetup {
    pub device: u32,
}

/// Asks for a replay of a device's requests; a setting that can't be applied is refused by its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetReplay {
    pub device: u32,
    pub setup: WhatIfSetup,
}

/// Performs one part of a sweep over settings, cards and batches, and asks for the results so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetSweep {
    pub device: u32,
    /// Card on which they are tried; its settings are ignored.
    pub setup: WhatIfSetup,
    /// True to discard an earlier sweep and begin a new one.
    pub is_new: bool,
}

/// Asks for a replay as a compressed snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WriteReplay {
    pub device: u32,
    pub setup: WhatIfSetup,
}

/// Settings and card of a recording, as far as it contains them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedSetup {
    /// Settings; those that are not modelled are left out.
    pub conf: String,
    /// Reason why a setting of the recording is not supported, or empty.
    pub refusal: String,
    /// Bytes that the allocator could have used, if memory ran out.
    pub capacity_bytes: Option<u64>,
    /// Earliest release of PyTorch that could have written the recording, as major and minor number, if it can be
    /// inferred.
    pub version: Option<(u32, u32)>,
}

/// Figures of a recording or of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFigures {
    /// Highest sum of requested bytes.
    pub peak_live_bytes: u64,
    /// Highest sum of segments.
    pub peak_reserved_bytes: u64,
    /// Number of calls that obtain memory from the driver or return it.
    pub driver_calls: u64,
    /// Number of requests for which the whole cache was returned; `None` for a recording, which does not contain it.
    pub retries: Option<u64>,
    /// Number of garbage collections that returned memory; `None` for a recording, which does not contain it.
    pub collections: Option<u64>,
    /// Number of requests that failed.
    pub ooms: u64,
    /// Event of the first request that failed.
    pub first_oom_event: Option<u64>,
}

/// Column of the plot: the highest values within a range of events, and the sums of counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhatIfColumn {
    /// Live bytes of the recording.
    pub live_bytes: u64,
    /// Reserved bytes of the recording.
    pub recorded_bytes: u64,
    /// Reserved bytes of the replay.
    pub replayed_bytes: u64,
    /// Reserved bytes of the recording that no tensor requested.
    pub recorded_beyond_bytes: u64,
    /// Reserved bytes of the replay that no tensor requested.
    pub replayed_beyond_bytes: u64,
    /// Number of driver calls in the recording.
    pub recorded_calls: u64,
    /// Number of driver calls in the replay.
    pub replayed_calls: u64,
    /// Number of requests of the replay for which the whole cache was returned.
    pub retries: u64,
    /// Number of garbage collections in the replay.
    pub collections: u64,
    /// Number of requests of the recording that failed.
    pub recorded_ooms: u64,
    /// Number of requests of the replay that failed.
    pub replayed_ooms: u64,
}

/// Result of a replay, compared with the recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayData {
    pub recorded: RunFigures,
    pub replayed: RunFigures,
    /// Recording and replay over the events.
    pub columns: Vec<WhatIfColumn>,
    /// Number of events.
    pub events: u64,
    /// Bytes of the first request that failed.
    pub oom_bytes: u64,
    /// Number of blocks from before the trace whose size or position is a guess.
    pub guessed_blocks: u64,
}

/// Result of one combination of settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialRow {
    pub conf: String,
    /// True for the settings of the recording.
    pub is_recorded: bool,
    pub figures: RunFigures,
}

/// Results of a sweep so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepData {
    /// Fraction (0 to 1) of the sweep that is complete.
    pub progress: f64,
    /// Settings that were tried.
    pub rows: Vec<TrialRow>,
    /// Position of the best settings.
    pub best: Option<u32>,
    /// Smallest cards that suffice under the best settings, and under those of the recording.
    pub smallest_cards: [Option<String>; 2],
    /// Factor by which the batch can grow under the best settings.
    pub batch_factor: Option<f64>,
}

impl SweepData {
    pub fn is_done(&self) -> bool {
        self.progress >= 1.0
    }
}
