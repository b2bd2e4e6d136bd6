//! Checks that the modelled allocator does what the recorded one did.
//!
//! Idea: the recorded requests are carried out under the recorded settings on a device that answers as the recorded one
//! did, and each resulting driver call is compared with the next recorded one.
//! If the recording has no further call, the device counts as full and the request fails, which is a difference, too.

use serde::Serialize;
use std::fmt;

use super::initial::Initial;
use super::recorded::{Call, RecordedCard, RecordedEvent};
use super::run::{Runner, block_state};
use super::settings::recorded_settings;
use super::steps::{Step, StepKind, is_driver, steps};
use crate::allocator::{ConfError, Event, EventKind};
use crate::analysis::track::allocations::Allocations;
use crate::trace::{Action, BlockState, Device, Trace};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Index of the trace's event: the recorded one, or the request that led to the replayed one.
    pub event: usize,
    pub recorded: Option<RecordedEvent>,
    pub replayed: Option<RecordedEvent>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    pub recorded: u64,
    /// Number of these calls that were compared, up to the first difference.
    pub compared: u64,
    /// Number of these calls that were equal in kind, address and size.
    pub equal: u64,
    /// Number of requests that were served up to the first difference.
    pub requests: u64,
    /// Number of these requests whose block had the recorded address.
    pub same_address: u64,
    /// True if the blocks at the end are those of the snapshot, in address, size and state.
    pub same_blocks: bool,
    /// First difference; nothing was compared after it.
    pub first_difference: Option<Difference>,
}

/// Reason why a replay cannot be compared with its recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerifyError {
    Settings(ConfError),
    /// The garbage collection depends on the device's memory, which the snapshot does not name.
    CapacityMissing,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::CapacityMissing => f.write_str(
                "Garbage collection in this recording depended on the GPU's total memory, which the snapshot does not \
                 contain.",
            ),
        }
    }
}

impl std::error::Error for VerifyError {}

/// Replays a device's trace as it was recorded, and compares the driver calls.
///
/// `capacity_bytes` matters only if the recorded settings limit the process to a fraction of the device's memory.
///
/// # Errors
/// Returns an error if a recorded setting is not modelled, or needs the device's memory and that is not given.
pub fn verify(trace: &Trace, device: &Device, capacity_bytes: Option<u64>) -> Result<Verification, VerifyError> {
    let settings = recorded_settings(trace).map_err(VerifyError::Settings)?;
    let collects = settings.garbage_collection_threshold > 0.0 && settings.per_process_memory_fraction < 1.0;
    if collects && capacity_bytes.is_none() {
        return Err(VerifyError::CapacityMissing);
    }
    let initial = Initial::of(trace, device, &Allocations::pair(device));
    let mut runner = Runner::new(settings, RecordedCard::new(device, capacity_bytes));
    runner.place(&initial);
    let calls = runner.allocator.driver_mut().calls.clone();
    let mut verification = Verification { recorded: calls.len() as u64, ..Verification::default() };
    for step in steps(trace, device) {
        let next = verification.equal as usize;
        runner.allocator.driver_mut().begin(next, step.until);
        runner.carry_out(&step);
        let limit = runner.allocator.driver_mut().limit;
        let is_request = matches!(step.kind, StepKind::Allocate { .. } | StepKind::EmptyCache | StepKind::Fail { .. });
        let expected = if is_request { &calls[next..limit.max(next)] } else { &[] };
        verification.count(&step, runner.allocator.events());
        if let Some(difference) = verification.compare(&step, expected, runner.allocator.events()) {
            verification.first_difference = Some(difference);
            return Ok(verification);
        }
        runner.allocator.clear_events();
    }
    verification.same_blocks = blocks(device) == replayed_blocks(&runner);
    Ok(verification)
}

impl Verification {
    pub fn is_equal(&self) -> bool {
        self.first_difference.is_none() && self.equal == self.recorded
    }

    fn count(&mut self, step: &Step, events: &[Event]) {
        let StepKind::Allocate { addr, .. } = step.kind else { return };
        let Some(served) = events.iter().find(|event| event.kind == EventKind::Alloc) else { return };
        self.requests += 1;
        self.same_address += u64::from(served.addr == addr);
    }

    /// Compares the calls of a step with those that the recording has for it, and returns the first difference.
    fn compare(&mut self, step: &Step, expected: &[Call], events: &[Event]) -> Option<Difference> {
        let mut expected = expected.iter();
        for event in events {
            let action = Action::of_name(event.kind.name()).filter(|action| is_driver(*action));
            let Some(action) = action else { continue };
            let replayed = RecordedEvent { action, addr: event.addr, size_bytes: event.size_bytes };
            let call = expected.next();
            let recorded = call.map(|call| call.1);
            self.compared += u64::from(recorded.is_some());
            if recorded != Some(replayed) {
                let event = call.map_or(step.event, |call| call.0);
                return Some(Difference { event, recorded, replayed: Some(replayed) });
            }
            self.equal += 1;
        }
        if let Some(&(event, missing)) = expected.next() {
            self.compared += 1;
            return Some(Difference { event, recorded: Some(missing), replayed: None });
        }
        let is_served = events.iter().any(|event| event.kind == EventKind::Alloc);
        let is_wanted = matches!(step.kind, StepKind::Allocate { .. });
        (is_wanted && !is_served).then_some(Difference { event: step.event, recorded: None, replayed: None })
    }
}

type BlockRow = (u64, u64, BlockState);

fn blocks(device: &Device) -> Vec<BlockRow> {
    device.segments.blocks.iter().map(|block| (block.addr, block.size_bytes, block.state)).collect()
}

fn replayed_blocks(runner: &Runner<RecordedCard>) -> Vec<BlockRow> {
    let segments = runner.allocator.segments();
    let blocks = segments.iter().flat_map(|segment| &segment.blocks);
    blocks.map(|block| (block.addr, block.size_bytes, block_state(block.state))).collect()
}
