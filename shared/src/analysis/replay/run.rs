//! A replay from its first step to its last, with somebody who watches.

use std::ops::ControlFlow;

use super::batch::BatchScale;
use super::course::{CourseRecorder, ReplayColumn};
use super::initial::Initial;
use super::runner::Runner;
use super::steps::{Step, steps};
use crate::allocator::{Counters, OutOfMemory, Settings, VirtualCard};
use crate::analysis::Allocations;
use crate::trace::{Device, Trace};

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

impl ReplayConfig {
    /// The memory of a card that nothing fills, 1 TiB.
    ///
    /// It is no more than that since an expandable segment reserves addresses for the whole card.
    pub const NO_LIMIT_BYTES: u64 = 1 << 40;

    /// Settings on a card that nothing fills.
    pub fn unlimited(settings: Settings) -> Self {
        Self { settings, capacity_bytes: Self::NO_LIMIT_BYTES, elsewhere_bytes: 0 }
    }
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

/// A device's trace, ready to be replayed as often as one likes.
#[derive(Debug)]
pub struct Replayer<'a> {
    pub(super) trace: &'a Trace,
    pub(super) device: &'a Device,
    pub(super) initial: Initial,
}

impl<'a> Replayer<'a> {
    /// Finds out what was there before the trace; `allocations` are the lifetimes of the device.
    pub fn new(trace: &'a Trace, device: &'a Device, allocations: &Allocations) -> Self {
        Self { trace, device, initial: Initial::of(trace, device, allocations) }
    }

    /// Carries the requests out again.
    pub fn replay(&self, config: &ReplayConfig) -> ReplayReport {
        self.run(self.runner(config), None, |_, _, _| ControlFlow::Continue(())).0
    }

    /// Carries the requests out again, and keeps how memory went in so many columns of equally many events.
    pub fn course(&self, config: &ReplayConfig, columns: usize) -> (ReplayReport, Vec<ReplayColumn>) {
        let runner = self.runner(config);
        let mut recorder = CourseRecorder::new(&runner.allocator, self.device.events.len(), columns);
        let (report, _) = self.run(runner, None, |step, runner, _| {
            recorder.see(step, &runner.allocator);
            ControlFlow::Continue(())
        });
        (report, recorder.finish())
    }

    /// Whether every request is served, each in the size that it has with so many times the batch.
    ///
    /// It ends with the first that is not.
    pub fn fits(&self, config: &ReplayConfig, scale: Option<(&BatchScale, f64)>) -> bool {
        let (report, _) = self.run(self.runner(config), scale, |_, _, failed| match failed {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        });
        report.ooms.is_empty()
    }

    /// Carries steps out until `visit`, which sees each with what it did, says that it is enough.
    pub(super) fn run(
        &self,
        mut runner: Runner<VirtualCard>,
        scale: Option<(&BatchScale, f64)>,
        mut visit: impl FnMut(&Step, &Runner<VirtualCard>, Option<OutOfMemory>) -> ControlFlow<()>,
    ) -> (ReplayReport, Runner<VirtualCard>) {
        let initial_bytes = runner.allocator.counters().live_bytes.now;
        let mut ooms = Vec::new();
        for mut step in steps(self.trace, self.device) {
            if let Some((scale, factor)) = scale {
                scale.apply(&mut step, factor);
            }
            let failed = runner.carry_out(&step);
            if let Some(OutOfMemory { block_bytes, free_bytes }) = failed {
                ooms.push(ReplayOom { event: step.event, block_bytes, free_bytes });
            }
            if visit(&step, &runner, failed).is_break() {
                break;
            }
            runner.allocator.clear_events();
        }
        let (counters, guessed_blocks) = (*runner.allocator.counters(), self.initial.guessed_blocks);
        (ReplayReport { counters, ooms, initial_bytes, guessed_blocks }, runner)
    }

    /// An allocator on a card of its own, with what was there before the trace.
    pub(super) fn runner(&self, config: &ReplayConfig) -> Runner<VirtualCard> {
        let taken = self.initial.reserved_bytes().saturating_add(config.elsewhere_bytes);
        let usable_bytes = config.capacity_bytes.saturating_sub(taken);
        let card = VirtualCard::beside(config.capacity_bytes, usable_bytes, self.initial.range());
        let mut runner = Runner::new(config.settings.clone(), card);
        runner.place(&self.initial);
        runner
    }
}

/// Carries the requests of a device's trace out again.
///
/// Memory from before the trace lies where the final state shows it, under the settings of the recording.
/// Work of the program itself does not change: it asks for the same bytes in the same order, and where the recording
/// emptied the cache the replay does, unless that was the allocator's own answer to a full card.
///
/// Cost: O(log free blocks) an event; memory is bounded by what lives.
pub fn replay(trace: &Trace, device: &Device, config: &ReplayConfig) -> ReplayReport {
    Replayer::new(trace, device, &Allocations::pair(device)).replay(config)
}
