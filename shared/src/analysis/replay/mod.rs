//! A trace's requests carried out again by an allocator with other settings, or on another card.

mod initial;
mod recorded;
mod runner;
mod settings;
mod steps;
mod verify;

pub use settings::recorded_settings;
pub use verify::{Difference, RecordedEvent, Verification, VerifyError, verify};

use crate::allocator::{Counters, Settings, VirtualCard};
use crate::trace::{Device, Trace};
use initial::Initial;
use runner::Runner;
use steps::steps;

/// Under what a trace is replayed.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayConfig {
    /// The allocator's settings.
    pub settings: Settings,
    /// The card's memory in bytes.
    pub capacity_bytes: u64,
    /// What of it others take: the context, other libraries and processes.
    pub elsewhere_bytes: u64,
}

/// A request that the replay could not serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayOom {
    /// The event of the trace that asked.
    pub event: usize,
    /// The rounded request in bytes.
    pub block_bytes: u64,
    /// What the card had left, in bytes.
    pub free_bytes: u64,
}

/// What a replay came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayReport {
    /// Sums, peaks and calls of the driver.
    pub counters: Counters,
    /// The requests that failed; the program would have ended with the first, the replay goes on without them.
    pub ooms: Vec<ReplayOom>,
    /// Bytes that were live before the trace began, placed as the final state shows them.
    pub initial_bytes: u64,
    /// How many of the blocks from before the trace have a size or a place that is a guess.
    pub guessed_blocks: u64,
}

/// Carries the requests of a device's trace out again.
///
/// Memory from before the trace lies where the final state shows it, under the settings of the recording.
/// Work of the program itself does not change: it asks for the same bytes in the same order, and where the recording
/// emptied the cache the replay does, unless that was the allocator's own answer to a full card.
///
/// Cost: O(log free blocks) an event; memory is bounded by what lives.
pub fn replay(trace: &Trace, device: &Device, config: &ReplayConfig) -> ReplayReport {
    let initial = Initial::of(trace, device);
    let taken = initial.reserved_bytes().saturating_add(config.elsewhere_bytes);
    let card = VirtualCard::new(config.capacity_bytes, config.capacity_bytes.saturating_sub(taken));
    let mut runner = Runner::new(config.settings.clone(), card);
    runner.place(&initial);
    let initial_bytes = runner.allocator.counters().live_bytes.now;
    let mut ooms = Vec::new();
    for step in steps(trace, device) {
        if let Some(oom) = runner.carry_out(&step) {
            ooms.push(ReplayOom { event: step.event, block_bytes: oom.block_bytes, free_bytes: oom.free_bytes });
        }
        runner.allocator.clear_events();
    }
    ReplayReport { counters: *runner.allocator.counters(), ooms, initial_bytes, guessed_blocks: initial.guessed_blocks }
}
