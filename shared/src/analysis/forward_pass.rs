//! What forward keeps for backward in one step.

use super::{Phase, Step, Study};
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
        let rows = allocations.born_by(step.start)..allocations.born_by(step.end);
        let of_forward: Vec<(u32, StackId)> = rows
            .map(|row| (row, allocations.allocation_stack(super::AllocationId(row), study.device)))
            .filter(|&(row, stack)| study.phases.of_birth(allocations.born_at(row), stack) == Phase::Forward)
            .collect();
        let died = |row: u32| allocations.died[row as usize];
        let size_bytes = |row: u32| allocations.size_bytes[row as usize];
        let births = of_forward.iter().map(|&(row, _)| (allocations.born_at(row), size_bytes(row) as i64));
        let deaths = of_forward.iter().map(|&(row, _)| (died(row), -(size_bytes(row) as i64)));
        let moment = highest(births.chain(deaths).filter(|&(moment, _)| moment <= step.end).collect());
        let mut pass = Self { moment, ..Self::default() };
        for (row, stack) in of_forward {
            if allocations.born_at(row) <= moment && moment < died(row) {
                pass.bytes += size_bytes(row);
                let of_stack = pass.by_stack.entry(stack).or_default();
                of_stack.bytes += size_bytes(row);
                of_stack.count += 1;
            }
        }
        pass
    }
}

/// The first moment at which the sum of all changes so far is highest.
fn highest(mut changes: Vec<(u32, i64)>) -> u32 {
    changes.sort_unstable();
    let (mut sum, mut best) = (0, (0, 0));
    for (moment, bytes) in changes {
        sum += bytes;
        if sum > best.0 {
            best = (sum, moment);
        }
    }
    best.1
}
