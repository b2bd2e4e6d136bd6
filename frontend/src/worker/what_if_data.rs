//! Questions and answers about replays under other settings or on another card.

use serde::{Deserialize, Serialize};

/// Under what the page wants a device's requests replayed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhatIfSetup {
    /// The allocator's settings, as `PYTORCH_CUDA_ALLOC_CONF` takes them.
    pub conf: String,
    /// The card's memory in bytes, `None` for one that nothing fills.
    pub capacity_bytes: Option<u64>,
    /// What of it others take, in bytes.
    pub elsewhere_bytes: u64,
}

/// What the page can ask about replays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhatIfQuestion {
    /// Under what the recording ran.
    Recorded,
    /// What a replay comes to; a newer one makes the worker skip those that still wait.
    Replay(WhatIfSetup),
    /// One step of a sweep over settings, cards and batches, the first one where `is_new`.
    Sweep {
        /// The card to try them on; its settings are left out of account.
        setup: WhatIfSetup,
        /// Whether an earlier sweep is to be forgotten.
        is_new: bool,
    },
    /// The replay as a snapshot; the bytes come as a `Blob`, which no message is made of.
    Snapshot(WhatIfSetup),
}

/// An answer to a [`WhatIfQuestion`] of the same name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum WhatIfAnswer {
    /// Under what the recording ran.
    Recorded(RecordedSetup),
    /// What the replay came to.
    Replay(Box<ReplayData>),
    /// What the sweep has found so far.
    Sweep(SweepData),
}

/// Under what a recording ran, as far as it tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedSetup {
    /// Its settings; those that are not modelled are left out.
    pub conf: String,
    /// Why a setting of the recording can't be followed, or empty.
    pub refusal: String,
    /// What the allocator could have had, in bytes, where memory ran out.
    pub capacity_bytes: Option<u64>,
    /// The earliest release of PyTorch that could have made the recording, as major and minor, where it tells.
    pub version: Option<(u32, u32)>,
}

/// The figures of a recording or of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFigures {
    /// The highest sum of requested bytes.
    pub peak_live_bytes: u64,
    /// The highest sum of segments.
    pub peak_reserved_bytes: u64,
    /// Calls that fetch memory from the driver or give it back.
    pub driver_calls: u64,
    /// Requests for which the whole cache was given back; a recording does not tell.
    pub retries: Option<u64>,
    /// Garbage collections that gave something back; a recording does not tell.
    pub collections: Option<u64>,
    /// Requests that failed.
    pub ooms: u64,
    /// The first event that asked in vain.
    pub first_oom_event: Option<u64>,
}

/// One column of the plot: the highest values of a part of the events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhatIfColumn {
    /// Live bytes of the recording.
    pub live_bytes: u64,
    /// Reserved bytes of the recording.
    pub recorded_bytes: u64,
    /// Reserved bytes of the replay.
    pub replayed_bytes: u64,
    /// Reserved bytes of the recording that no tensor asked for.
    pub recorded_beyond_bytes: u64,
    /// Those of the replay.
    pub replayed_beyond_bytes: u64,
    /// Calls of the driver in the recording.
    pub recorded_calls: u64,
    /// Those of the replay.
    pub replayed_calls: u64,
    /// Requests of the replay for which the whole cache was given back.
    pub retries: u64,
    /// Garbage collections of the replay.
    pub collections: u64,
    /// Requests of the recording that failed.
    pub recorded_ooms: u64,
    /// Those of the replay.
    pub replayed_ooms: u64,
}

/// What a replay came to, beside the recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayData {
    /// The recording.
    pub recorded: RunFigures,
    /// The replay.
    pub replayed: RunFigures,
    /// Both over the events.
    pub columns: Vec<WhatIfColumn>,
    /// The number of events.
    pub events: u64,
    /// The request that failed first, in bytes.
    pub oom_bytes: u64,
    /// Blocks from before the trace whose size or place is a guess.
    pub guessed_blocks: u64,
}

/// What some settings come to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialRow {
    /// The settings.
    pub conf: String,
    /// Whether they are those of the recording.
    pub is_recorded: bool,
    /// What came of them.
    pub figures: RunFigures,
}

/// What a sweep has found so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepData {
    /// The share that is done; 1 at the end.
    pub progress: f64,
    /// Each setting that was tried.
    pub rows: Vec<TrialRow>,
    /// The position of the best one.
    pub best: Option<u32>,
    /// The smallest card that has room under the best settings, and as recorded.
    pub smallest_cards: [Option<String>; 2],
    /// How many times the batch fits under the best settings.
    pub batch_factor: Option<f64>,
}

impl SweepData {
    /// Whether nothing is left to try.
    pub fn is_done(&self) -> bool {
        self.progress >= 1.0
    }
}
