//! Defines replays with other settings or on another card, and their results.

use serde::{Deserialize, Serialize};
use shared::analysis::{RecordedColumn, ReplayColumn};
use shared::report::{ReplayOom, ReplaySweep, RunFigures, WholeStep};

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

/// Settings and card of a recording, as far as it contains them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedSetup {
    /// Settings; those that are not modelled are left out.
    pub conf: String,
    /// Reason why a setting of the recording is not supported, or empty.
    pub refusal: String,
    /// Bytes that the allocator could have used, if memory ran out.
    pub capacity_bytes: Option<u64>,
    /// Environment variable from which PyTorch reads the settings.
    pub variable: String,
}

/// Column of the plot: a range of events in the recording and in the replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhatIfColumn {
    pub recorded: RecordedColumn,
    pub replayed: ReplayColumn,
}

/// Result of a replay, compared with the recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayData {
    pub recorded: RunFigures,
    pub replayed: RunFigures,
    /// Recording and replay over the events.
    pub columns: Vec<WhatIfColumn>,
    pub events: u64,
    pub first_oom: Option<ReplayOom>,
    /// Number of blocks from before the trace whose size or position is a guess.
    pub guessed_blocks: u64,
    /// What the step needs in which the recording ran out of memory, if it did.
    pub whole_step: Option<WholeStep>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepData {
    /// Fraction (0 to 1) of the sweep that is complete.
    pub progress: f64,
    pub found: ReplaySweep,
}

impl SweepData {
    pub fn is_done(&self) -> bool {
        self.progress >= 1.0
    }
}
