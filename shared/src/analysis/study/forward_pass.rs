//! Collects the tensors that forward keeps for backward in one step.

use crate::analysis::study::phases::Phase;
use crate::analysis::study::step::Step;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::AllocationId;
use crate::analysis::track::together::{Lifetime, most_together};
use crate::trace::StackId;
use hashbrown::HashMap;

/// Allocations of one stack in a forward pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassRow {
    /// Sum of the requested sizes.
    pub bytes: u64,
    /// Number of allocations.
    pub count: u64,
}

/// Allocations of a step's forward at the moment when most of their bytes are alive.
///
/// This moment is the end of forward, because backward frees what it has used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForwardPass {
    /// Moment with the most bytes of forward alive.
    pub moment: u32,
    /// Bytes alive at that moment that forward allocated in this step.
    pub bytes: u64,
    /// The same bytes, by stack.
    pub by_stack: HashMap<StackId, PassRow>,
}

impl ForwardPass {
    /// Examines one step; the result is empty if the phases of the trace are unknown.
    pub fn of(study: &Study<'_>, step: Step) -> Self {
        let allocations = &study.timeline.allocations;
        let of_forward: Vec<Lifetime> = (allocations.born_by(step.start)..allocations.born_by(step.end))
            .map(|row| Lifetime::of(allocations, study.device, AllocationId(row)))
            .filter(|row| study.phases.of_birth(row.born, row.stack) == Phase::Forward)
            .collect();
        let (moment, _) = most_together(&of_forward, step.end);
        let mut pass = Self { moment, ..Self::default() };
        for row in of_forward.into_iter().filter(|row| row.is_alive_at(moment)) {
            pass.bytes += row.bytes;
            let of_stack = pass.by_stack.entry(row.stack).or_default();
            of_stack.bytes += row.bytes;
            of_stack.count += 1;
        }
        pass
    }
}
