//! Which part of a step each moment belongs to.
//!
//! Functions of the program tell it best, then the operations of PyTorch, then the shape of the curve.

mod frames;
mod operations;
mod shape;
mod sharing;
mod updates;

pub(super) use sharing::Sharing;

use super::Allocations;
use crate::trace::{Action, Device, StackId, Trace};

/// A part of a training step, or what comes before and beside the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The model is built and moved to the device.
    Setup,
    /// A batch is brought to the device.
    Data,
    /// The model runs, its loss included.
    Forward,
    /// Gradients are computed.
    Backward,
    /// Activations are computed again within backward.
    Recompute,
    /// The optimizer steps.
    Optimizer,
    /// The model runs without training.
    Evaluation,
    /// Devices exchange data.
    Collective,
    /// Nothing tells.
    Unknown,
}

crate::names!(Phase {
    Setup => "setup",
    Data => "data",
    Forward => "forward",
    Backward => "backward",
    Recompute => "recompute",
    Optimizer => "optimizer",
    Evaluation => "evaluation",
    Collective => "collective",
    Unknown => "unknown",
});

/// What phases were told by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PhaseBasis {
    /// Functions of the program and of PyTorch's Python.
    Functions,
    /// Operations of PyTorch: nodes of backward and kernels of optimizers.
    Operations,
    /// The shape of the curve, for want of frames: a guess.
    #[default]
    Curve,
}

crate::names!(PhaseBasis {
    Functions => "functions",
    Operations => "operations",
    Curve => "curve",
});

impl PhaseBasis {
    /// Returns how phases were found, in words.
    pub fn origin(self) -> &'static str {
        match self {
            Self::Functions => "told by functions in the stacks",
            Self::Operations => "told by PyTorch's operations",
            Self::Curve => "guessed from the curve's shape",
        }
    }
}

/// The phase of every moment of a device, as runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phases {
    /// Where each run ends, and its phase; moments after the last are unknown.
    runs: Vec<(u32, Phase)>,
    /// Where each run allocates for the last time.
    lasts: Vec<u32>,
    /// The phase of each stack, by its index; empty where frames tell nothing.
    of_stacks: Vec<Phase>,
    /// What each stack says about the traffic between processes, by its index; empty where there is none.
    sharing: Vec<Option<Sharing>>,
    basis: PhaseBasis,
}

/// The share of allocations whose frames have to tell a phase, for the others to be told by them.
const LEAST_TOLD: f64 = 0.3;

impl Phases {
    /// Finds the phases of a device.
    pub fn find(trace: &Trace, device: &Device, allocations: &Allocations) -> Self {
        let (actions, stacks) = (device.events.actions(), device.events.stacks());
        let allocs: Vec<usize> = (0..device.events.len()).filter(|&event| actions.at(event) == Action::Alloc).collect();
        let is_enough = |told: usize| told as f64 > LEAST_TOLD * allocs.len() as f64;
        let of_stacks = frames::of_stacks(trace);
        let of_alloc = |event: usize| of_stacks[stacks.at(event).index()];
        let told = allocs.iter().filter(|&&event| of_alloc(event) != Phase::Unknown).count();
        // Nodes of backward alone say nothing about the rest.
        let is_pass = |phase: Phase| matches!(phase, Phase::Forward | Phase::Evaluation);
        let is_forward_told = allocs.iter().any(|&event| is_pass(of_alloc(event)))
            || allocs.iter().all(|&event| matches!(of_alloc(event), Phase::Setup | Phase::Unknown));
        let (runs, of_stacks, basis) = if is_forward_told && is_enough(told) {
            (frames::runs(&allocs, device, &of_stacks), of_stacks, PhaseBasis::Functions)
        } else {
            let signs = operations::signs(trace, &of_stacks);
            let signed = allocs.iter().filter(|&&event| signs[stacks.at(event).index()].is_some()).count();
            if is_enough(signed) {
                (operations::runs(&allocs, device, allocations, &signs), Vec::new(), PhaseBasis::Operations)
            } else {
                (shape::runs(device, allocations), Vec::new(), PhaseBasis::Curve)
            }
        };
        let lasts = lasts(&runs, &allocs);
        Self { runs, lasts, of_stacks, sharing: sharing::of_stacks(trace), basis }
    }

    /// What the phases were told by.
    pub fn basis(&self) -> PhaseBasis {
        self.basis
    }

    /// Whether frames tell the phases, and not the shape of the curve.
    pub fn are_told(&self) -> bool {
        self.basis != PhaseBasis::Curve
    }

    /// The phase that a moment belongs to.
    pub fn at(&self, moment: u32) -> Phase {
        let index = self.runs.partition_point(|&(end, _)| end < moment);
        self.runs.get(index).map_or(Phase::Unknown, |&(_, phase)| phase)
    }

    /// The phase that a stack tells by itself, if any.
    pub fn of_stack(&self, stack: StackId) -> Phase {
        self.of_stacks.get(stack.index()).copied().unwrap_or(Phase::Unknown)
    }

    /// The phase that an allocation was made in, by its stack or else by its moment.
    pub fn of_birth(&self, born: u32, stack: StackId) -> Phase {
        match self.of_stack(stack) {
            Phase::Unknown => self.at(born),
            phase => phase,
        }
    }

    /// The same of an allocation whose [run](Self::run_of) is known.
    pub(super) fn of_birth_in(&self, run: usize, stack: StackId) -> Phase {
        match self.of_stack(stack) {
            Phase::Unknown => self.runs.get(run).map_or(Phase::Unknown, |&(_, phase)| phase),
            phase => phase,
        }
    }

    /// Where steps end, told by the updates of the weights; the first is where the first step begins.
    ///
    /// A run of backward ends a step where an optimizer allocates after it, or where gradients go before the next one.
    pub(super) fn updates(&self, device: &Device, allocations: &Allocations) -> Vec<u32> {
        updates::find(self, device, allocations)
    }

    /// The moment after the set-up that a trace begins with, 0 where it begins without.
    pub(super) fn setup_end(&self) -> u32 {
        let is_setup = |run: &&(u32, Phase)| matches!(run.1, Phase::Setup | Phase::Unknown);
        self.runs.iter().take_while(is_setup).last().map_or(0, |run| run.0)
    }

    /// Whether gradients are computed at any time.
    pub(super) fn has_backward(&self) -> bool {
        self.runs.iter().any(|run| run.1 == Phase::Backward)
    }

    /// What a stack says about the traffic between processes.
    pub(super) fn sharing(&self, stack: StackId) -> Option<Sharing> {
        self.sharing.get(stack.index()).copied().flatten()
    }

    /// Whether a lifetime goes on after the run that it began in.
    pub(super) fn leaves(&self, run: usize, died: u32) -> bool {
        died > self.end_of(run)
    }

    /// Whether a lifetime that began in a run of backward goes on after it, recomputation being a part of it.
    pub(super) fn leaves_backward(&self, first: usize, died: u32) -> bool {
        let is_backward = |run: &&(u32, Phase)| matches!(run.1, Phase::Backward | Phase::Recompute | Phase::Collective);
        let count = self.runs[first.min(self.runs.len())..].iter().take_while(is_backward).count();
        count == 0 || died > self.end_of(first + count - 1)
    }

    /// Whether a lifetime goes on after the next backward.
    pub(super) fn outlives_backward(&self, born: u32, died: u32) -> bool {
        let from = self.run_of(born);
        let next = self.runs.iter().skip(from).position(|&(_, phase)| phase == Phase::Backward);
        next.is_some_and(|index| died > self.runs[from + index].0)
    }

    /// The position of the run that a moment belongs to, the number of runs after the last one.
    pub(super) fn run_of(&self, moment: u32) -> usize {
        self.runs.partition_point(|&(end, _)| end < moment)
    }

    /// The same of a moment that is not before this run, which a few steps lead to where moments are asked for in order.
    pub(super) fn run_from(&self, run: usize, moment: u32) -> usize {
        run + self.runs[run..].iter().take_while(|&&(end, _)| end < moment).count()
    }

    /// Where a run is over for what it has allocated.
    ///
    /// What passes leave is there after their last allocation; an optimizer frees its last copies after that.
    fn end_of(&self, run: usize) -> u32 {
        match self.runs.get(run) {
            Some((_, Phase::Forward | Phase::Backward | Phase::Recompute)) => self.lasts[run],
            Some(&(end, _)) => end,
            None => 0,
        }
    }

    /// The runs of one phase: where each ends, and its phase.
    pub fn runs(&self) -> &[(u32, Phase)] {
        &self.runs
    }
}

/// The moment of the last allocation of each run.
fn lasts(runs: &[(u32, Phase)], allocs: &[usize]) -> Vec<u32> {
    let last = |&(end, _): &(u32, Phase)| {
        let count = allocs.partition_point(|&event| (event as u32) < end);
        count.checked_sub(1).map_or(end, |index| allocs[index] as u32 + 1)
    };
    runs.iter().map(last).collect()
}
