//! Whether the allocator here does what the recorded one did.
//!
//! Idea: the recorded requests are carried out under the recorded settings on a card that answers as the recorded one
//! did; each call of the driver that comes of it is compared with the next recorded one.
//! Where the recording has none, the card counts as full, and the request fails: that is a difference, too.

use std::fmt;

use super::initial::Initial;
use super::recorded::{Call, RecordedCard};
use super::runner::Runner;
use super::settings::recorded_settings;
use super::steps::{Step, StepKind, is_driver, steps};
use crate::allocator::{BlockUse, ConfError, Event, EventKind};
use crate::analysis::Allocations;
use crate::trace::{Action, BlockState, Device, Trace};

/// An event of the driver, as recorded or as replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedEvent {
    /// What the driver was asked for.
    pub action: Action,
    /// The address.
    pub addr: u64,
    /// The size.
    pub size_bytes: u64,
}

/// The first event that is not as recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The event of the trace: the recorded one, or the request that led to the replayed one.
    pub event: usize,
    /// What the recording has there, if anything.
    pub recorded: Option<RecordedEvent>,
    /// What the replay did, if anything.
    pub replayed: Option<RecordedEvent>,
}

/// What the comparison came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Segment events of the recording.
    pub recorded: u64,
    /// Those that were compared, up to the first difference.
    pub compared: u64,
    /// Those that were equal in kind, address and size.
    pub equal: u64,
    /// The first difference; nothing was compared after it.
    pub first_difference: Option<Difference>,
    /// Requests that were served before it.
    pub requests: u64,
    /// Those of them whose block lay at the recorded address.
    pub same_address: u64,
    /// Whether the blocks at the end are those of the snapshot, in address, size and state.
    pub same_blocks: bool,
}

/// Why a replay cannot be compared with its recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerifyError {
    /// A recorded setting is not modelled.
    Settings(ConfError),
    /// Garbage was collected by the card's memory, which the snapshot does not name.
    CapacityMissing,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::CapacityMissing => f.write_str(
                "The recording collected garbage by the card's memory, which the snapshot does not name: say how much \
                 it had.",
            ),
        }
    }
}

impl std::error::Error for VerifyError {}

/// Replays a device's trace as it was recorded, and compares.
///
/// The card's memory matters only where a share of it was a limit.
///
/// # Errors
/// A recorded setting that the allocator does not follow, or one that needs the card's memory where it is not given.
pub fn verify(trace: &Trace, device: &Device, capacity_bytes: Option<u64>) -> Result<Verification, VerifyError> {
    let settings = recorded_settings(trace).map_err(VerifyError::Settings)?;
    let collects = settings.garbage_collection_threshold > 0.0 && settings.per_process_memory_fraction < 1.0;
    if collects && capacity_bytes.is_none() {
        return Err(VerifyError::CapacityMissing);
    }
    let initial = Initial::of(trace, device, &Allocations::pair(device));
    let mut runner = Runner::new(settings, RecordedCard::new(device, capacity_bytes));
    runner.place(&initial);
    let calls = runner.allocator.driver_mut().calls().to_vec();
    let mut verification = Verification { recorded: calls.len() as u64, ..Verification::default() };
    for step in steps(trace, device) {
        let next = verification.equal as usize;
        runner.allocator.driver_mut().begin(next, step.until);
        runner.carry_out(&step);
        let limit = runner.allocator.driver_mut().limit();
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
    /// Whether everything that was recorded came out.
    pub fn is_equal(&self) -> bool {
        self.first_difference.is_none() && self.equal == self.recorded
    }

    fn count(&mut self, step: &Step, events: &[Event]) {
        let StepKind::Allocate { addr, .. } = step.kind else { return };
        let Some(served) = events.iter().find(|event| event.kind == EventKind::Alloc) else { return };
        self.requests += 1;
        self.same_address += u64::from(served.addr == addr);
    }

    /// Compares what a step did with what the recording has for it.
    fn compare(&mut self, step: &Step, expected: &[Call], events: &[Event]) -> Option<Difference> {
        let mut expected = expected.iter();
        for event in events {
            let Some(action) = action(event.kind).filter(|action| is_driver(*action)) else { continue };
            let replayed = RecordedEvent { action, addr: event.addr, size_bytes: event.size_bytes };
            let call = expected.next();
            let recorded = call.map(recorded);
            self.compared += u64::from(recorded.is_some());
            if recorded != Some(replayed) {
                let event = call.map_or(step.event, |call| call.event);
                return Some(Difference { event, recorded, replayed: Some(replayed) });
            }
            self.equal += 1;
        }
        let missing = expected.next();
        if let Some(call) = missing {
            self.compared += 1;
            return Some(Difference { event: call.event, recorded: Some(recorded(call)), replayed: None });
        }
        let is_served = events.iter().any(|event| event.kind == EventKind::Alloc);
        let is_wanted = matches!(step.kind, StepKind::Allocate { .. });
        (is_wanted && !is_served).then_some(Difference { event: step.event, recorded: None, replayed: None })
    }
}

fn recorded(call: &Call) -> RecordedEvent {
    RecordedEvent { action: call.action, addr: call.addr, size_bytes: call.size_bytes }
}

fn action(kind: EventKind) -> Option<Action> {
    Action::from_name(kind.name())
}

/// Address, size and state of a block.
type BlockRow = (u64, u64, BlockState);

/// The blocks of a snapshot.
fn blocks(device: &Device) -> Vec<BlockRow> {
    device.segments.blocks.iter().map(|block| (block.addr, block.size_bytes, block.state)).collect()
}

/// The blocks at the end of a replay.
fn replayed_blocks(runner: &Runner<RecordedCard>) -> Vec<BlockRow> {
    let segments = runner.allocator.segments();
    let state = |block: BlockUse| match block {
        BlockUse::Allocated => BlockState::Allocated,
        BlockUse::PendingFree => BlockState::PendingFree,
        BlockUse::Free | BlockUse::Unmapped => BlockState::Inactive,
    };
    let blocks = segments.iter().flat_map(|segment| &segment.blocks);
    blocks.map(|block| (block.addr, block.size_bytes, state(block.state))).collect()
}
