//! Assigns every moment of a device to a part of a training step, and finds the updates of weights, which end steps.
//!
//! Functions of the program are the best evidence, then operations of PyTorch, then the shape of the curve.
//!
//! Invariant: a finding names categories only if frames identify the phases, or if names in the snapshot state them.

mod frames;
mod operations;
mod shape;
mod sharing;

use crate::analysis::track::allocations::Allocations;
use crate::analysis::track::curve::sums;
use crate::trace::{Action, Device, StackId, Trace};
pub use frames::{Phase, PhaseBasis};
pub(in crate::analysis) use sharing::Sharing;

/// Phase of every moment of a device, stored as runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phases {
    /// Last moment of each run, and its phase; moments after the last run are unknown.
    runs: Vec<(u32, Phase)>,
    /// Moment of the last allocation of each run.
    lasts: Vec<u32>,
    /// Phase of each stack, by its index; empty if frames do not identify phases.
    of_stacks: Vec<Phase>,
    /// Role of each stack in the communication between processes, by its index; empty if there is none.
    sharing: Vec<Option<Sharing>>,
    basis: PhaseBasis,
}

/// Fraction of allocations (0.3), or of their bytes, whose frames must identify a phase; the phases of the others are
/// inferred from them.
const LEAST_TOLD: f64 = 0.3;

/// The same (0.1) where calls of a module and of backward or an optimizer are told: a program may compute most by functions.
const LEAST_ANCHORED: f64 = 0.1;

impl Phases {
    /// Finds the phases of a device.
    pub fn find(trace: &Trace, device: &Device, allocations: &Allocations) -> Self {
        let (actions, stacks) = (device.events.actions(), device.events.stacks());
        let allocs: Vec<usize> = (0..device.events.len()).filter(|&event| actions.at(event) == Action::Alloc).collect();
        let is_more = |told: usize, least: f64, of: usize| told as f64 > least * of as f64;
        let of_stacks = frames::of_stacks(trace);
        let of_alloc = |event: usize| of_stacks[stacks.at(event).index()];
        let told = allocs.iter().filter(|&&event| of_alloc(event) != Phase::Unknown).count();
        let is_told = |phase: Phase| allocs.iter().any(|&event| of_alloc(event) == phase);
        let is_anchored = is_told(Phase::Forward) && (is_told(Phase::Backward) || is_told(Phase::Optimizer));
        let least_told = if is_anchored { LEAST_ANCHORED } else { LEAST_TOLD };
        // Arithmetic on gradients may make most of the allocations, and little of the memory.
        let is_told_by_bytes = || {
            let (mut told_bytes, mut all_bytes) = (0_u64, 0_u64);
            for &event in allocs.iter().filter(|&&event| stacks.at(event).has_frames()) {
                let bytes = device.events.sizes_bytes().at(event);
                all_bytes = all_bytes.saturating_add(bytes);
                told_bytes = told_bytes.saturating_add(if of_alloc(event) == Phase::Unknown { 0 } else { bytes });
            }
            told_bytes as f64 > LEAST_TOLD * all_bytes as f64
        };
        // The threads of backward have no Python frames, however many allocations they make.
        let framed = allocs.iter().filter(|&&event| stacks.at(event).has_frames()).count();
        // Nodes of backward alone do not identify the other phases.
        let is_pass = |phase: Phase| matches!(phase, Phase::Forward | Phase::Evaluation);
        let is_forward_told = allocs.iter().any(|&event| is_pass(of_alloc(event)))
            || allocs.iter().all(|&event| matches!(of_alloc(event), Phase::Setup | Phase::Unknown));
        let is_enough = is_more(told, least_told, framed.max(allocs.len() / 2)) || is_anchored && is_told_by_bytes();
        let (runs, of_stacks, basis) = if is_forward_told && is_enough {
            (frames::runs(&allocs, device, &of_stacks), of_stacks, PhaseBasis::Functions)
        } else {
            let signs = operations::signs(trace, &of_stacks);
            let signed = allocs.iter().filter(|&&event| signs[stacks.at(event).index()].is_some()).count();
            if is_more(signed, LEAST_TOLD, allocs.len()) {
                (operations::runs(&allocs, device, allocations, &signs), Vec::new(), PhaseBasis::Operations)
            } else {
                (shape::runs(device, allocations), Vec::new(), PhaseBasis::Curve)
            }
        };
        let lasts = lasts(&runs, &allocs);
        Self { runs, lasts, of_stacks, sharing: sharing::of_stacks(trace), basis }
    }

    pub fn basis(&self) -> PhaseBasis {
        self.basis
    }

    /// Returns true if phases were inferred from frames, not from the shape of the curve.
    pub fn are_told(&self) -> bool {
        self.basis != PhaseBasis::Curve
    }

    pub fn at(&self, moment: u32) -> Phase {
        self.runs.get(self.run_of(moment)).map_or(Phase::Unknown, |&(_, phase)| phase)
    }

    /// Returns the phase that the frames of a stack identify by themselves, if any.
    pub fn of_stack(&self, stack: StackId) -> Phase {
        self.of_stacks.get(stack.index()).copied().unwrap_or(Phase::Unknown)
    }

    /// Returns the phase in which an allocation was made, inferred from its stack or otherwise from its moment.
    pub fn of_birth(&self, born: u32, stack: StackId) -> Phase {
        match self.of_stack(stack) {
            Phase::Unknown => self.at(born),
            phase => phase,
        }
    }

    /// Same as [`of_birth`](Self::of_birth) for an allocation whose [run](Self::run_of) is known.
    pub(in crate::analysis) fn of_birth_in(&self, run: usize, stack: StackId) -> Phase {
        match self.of_stack(stack) {
            Phase::Unknown => self.runs.get(run).map_or(Phase::Unknown, |&(_, phase)| phase),
            phase => phase,
        }
    }

    /// Returns the last moment of the set-up with which a trace begins, 0 if there is none.
    pub(in crate::analysis) fn setup_end(&self) -> u32 {
        let is_setup = |run: &&(u32, Phase)| matches!(run.1, Phase::Setup | Phase::Unknown);
        self.runs.iter().take_while(is_setup).last().map_or(0, |run| run.0)
    }

    /// Returns true if gradients are computed anywhere in the trace.
    pub(in crate::analysis) fn has_backward(&self) -> bool {
        self.runs.iter().any(|run| run.1 == Phase::Backward)
    }

    /// Returns the role of a stack in the communication between processes.
    pub(in crate::analysis) fn sharing(&self, stack: StackId) -> Option<Sharing> {
        self.sharing.get(stack.index()).copied().flatten()
    }

    /// Returns true if a lifetime extends beyond the run in which it began.
    pub(in crate::analysis) fn leaves(&self, run: usize, died: u32) -> bool {
        died > self.end_of(run)
    }

    /// Returns true if a lifetime that began in a run of backward extends beyond it.
    ///
    /// Recomputation and collectives count as parts of backward.
    pub(in crate::analysis) fn leaves_backward(&self, first: usize, died: u32) -> bool {
        let count = self.runs[first.min(self.runs.len())..].iter().take_while(|run| is_of_backward(run)).count();
        count == 0 || died > self.end_of(first + count - 1)
    }

    /// Returns the last moment of the backward that begins after a moment; the maximum if none begins there.
    pub(in crate::analysis) fn end_of_backward(&self, start: u32) -> u32 {
        let first = self.runs.partition_point(|&(end, _)| end <= start);
        self.runs[first..].iter().take_while(|run| is_of_backward(run)).last().map_or(u32::MAX, |run| run.0)
    }

    /// Returns true if a lifetime extends beyond the next backward.
    pub(in crate::analysis) fn outlives_backward(&self, born: u32, died: u32) -> bool {
        let from = self.run_of(born);
        let next = self.runs.iter().skip(from).position(|&(_, phase)| phase == Phase::Backward);
        next.is_some_and(|index| died > self.runs[from + index].0)
    }

    /// Returns the moment before the first backward that begins in a run or after it.
    pub(in crate::analysis) fn start_of_backward(&self, run: usize) -> Option<u32> {
        let index = run + self.runs.iter().skip(run).position(|&(_, phase)| phase == Phase::Backward)?;
        Some(index.checked_sub(1).map_or(0, |before| self.runs[before].0))
    }

    /// Returns the position of the run to which a moment belongs, or the number of runs for moments after the last run.
    pub(in crate::analysis) fn run_of(&self, moment: u32) -> usize {
        self.runs.partition_point(|&(end, _)| end < moment)
    }

    /// Same as [`run_of`](Self::run_of) for a moment that is not before `run`.
    ///
    /// It searches linearly from `run`, which is fast if moments are looked up in ascending order.
    pub(in crate::analysis) fn run_from(&self, run: usize, moment: u32) -> usize {
        run + self.runs[run..].iter().take_while(|&&(end, _)| end < moment).count()
    }

    /// Returns the moment after which a lifetime counts as extending beyond a run.
    ///
    /// For passes it is the last allocation, because tensors that a pass leaves behind are alive then. An optimizer
    /// frees its last temporary copies after its last allocation, so that its run counts to the end.
    fn end_of(&self, run: usize) -> u32 {
        match self.runs.get(run) {
            Some((_, Phase::Forward | Phase::Backward | Phase::Recompute)) => self.lasts[run],
            Some(&(end, _)) => end,
            None => 0,
        }
    }

    /// Returns the runs of equal phases: the last moment of each, and its phase.
    pub fn runs(&self) -> &[(u32, Phase)] {
        &self.runs
    }
}

/// Returns true for a run of backward; recomputation and collectives count as parts of it.
fn is_of_backward(run: &(u32, Phase)) -> bool {
    matches!(run.1, Phase::Backward | Phase::Recompute | Phase::Collective)
}

/// Returns the moment of the last allocation of each run.
fn lasts(runs: &[(u32, Phase)], allocs: &[usize]) -> Vec<u32> {
    let last = |&(end, _): &(u32, Phase)| {
        let count = allocs.partition_point(|&event| (event as u32) < end);
        count.checked_sub(1).map_or(end, |index| allocs[index] as u32 + 1)
    };
    runs.iter().map(last).collect()
}

/// More than 1/2 of the gradients must be freed before the next backward, for an update to be inferred from that.
const LEAST_GONE: u64 = 2;

impl Phases {
    /// Returns the start of the first step and the ends of all steps, inferred from updates of weights.
    ///
    /// A run of backward ends a step if an optimizer allocates after it, or if gradients are freed before the next
    /// backward.
    pub(in crate::analysis) fn updates(&self, device: &Device, allocations: &Allocations) -> Vec<u32> {
        let runs = &self.runs;
        let gradients = gradients(self, device, allocations);
        let begins = |index: usize| index.checked_sub(1).map_or(0, |before| runs[before].0);
        let Some(first) = runs.iter().position(|run| !matches!(run.1, Phase::Setup | Phase::Unknown)) else {
            return Vec::new();
        };
        let mut ends = vec![begins(first)];
        let mut index = first;
        while let Some(backward) = (index..runs.len()).find(|&at| runs[at].1 == Phase::Backward) {
            // Backward includes recomputation.
            let after = (backward..runs.len()).find(|&at| !is_of_backward(&runs[at])).unwrap_or(runs.len());
            let next = (after..runs.len()).find(|&at| runs[at].1 == Phase::Backward).unwrap_or(runs.len());
            let over = self.lasts[after - 1];
            let least = gradients[over as usize] - gradients[over as usize] / LEAST_GONE;
            let until = if next == runs.len() { device.events.len() as u32 } else { begins(next) };
            let has_optimizer = runs[after..next].iter().any(|run| run.1 == Phase::Optimizer);
            let are_gone = || gradients[over as usize..=until as usize].iter().any(|&count| count < least);
            if has_optimizer || are_gone() {
                // An evaluation belongs to the step before it.
                let is_next =
                    |run: &(u32, Phase)| matches!(run.1, Phase::Forward | Phase::Data | Phase::Setup | Phase::Unknown);
                let of_step = runs[after..next].iter().take_while(|run| !is_next(run)).count();
                ends.push(begins(after + of_step));
            }
            index = next;
        }
        ends
    }
}

/// Returns, for each moment, the number of live tensors that backward allocated and that outlive it.
fn gradients(phases: &Phases, device: &Device, allocations: &Allocations) -> Vec<u64> {
    let mut changes = vec![0_i64; device.events.len() + 1];
    let mut run = 0;
    for id in allocations.ids().skip(allocations.initial_count()) {
        let (born, died) = (allocations.born_at(id.0), allocations.died[id.index()]);
        run = phases.run_from(run, born);
        let is_gradient = phases.of_birth_in(run, allocations.allocation_stack(id, device)) == Phase::Backward;
        if is_gradient && phases.leaves_backward(run, died) {
            changes[born as usize] += 1;
            if let Some(change) = changes.get_mut(died as usize) {
                *change -= 1;
            }
        }
    }
    sums(changes)
}
