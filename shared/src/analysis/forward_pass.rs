//! What forward keeps for backward in one step.

use super::together::{Lifetime, most_together};
use super::{AllocationId, Phase, Step, Study};
use crate::trace::StackId;
use hashbrown::HashMap;

/// What one stack has in a forward pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassRow {
    /// The sum of the sizes.
    pub bytes: u64,
    /// The number of allocations.
    pub count: u64,
}

/// The allocations of a step's forward at the moment when most of their bytes are alive.
///
/// That moment is the end of forward: backward frees what it has used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForwardPass {
    /// The moment.
    pub moment: u32,
    /// The bytes alive there that forward has allocated in this step.
    pub bytes: u64,
    /// The same by stack.
    pub by_stack: HashMap<StackId, PassRow>,
}

impl ForwardPass {
    /// Looks at one step; nothing is alive in a pass of a trace whose phases are not known.
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
