//! Finds the updates of weights, each of which ends a step.

use super::Phases;
use super::frames::Phase;
use crate::analysis::track::allocations::Allocations;
use crate::trace::Device;

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
            let after = (backward..runs.len()).find(|&at| !is_backward(runs[at].1)).unwrap_or(runs.len());
            let next = (after..runs.len()).find(|&at| runs[at].1 == Phase::Backward).unwrap_or(runs.len());
            let over = self.lasts[after - 1];
            let least = gradients[over as usize] - gradients[over as usize] / LEAST_GONE;
            let until = if next == runs.len() { device.events.len() as u32 } else { begins(next) };
            let has_optimizer = runs[after..next].iter().any(|run| run.1 == Phase::Optimizer);
            let are_gone = || gradients[over as usize..=until as usize].iter().any(|&count| count < least);
            if has_optimizer || are_gone() {
                // An evaluation belongs to the step before it.
                let of_step = runs[after..next].iter().take_while(|run| !is_forward(run.1)).count();
                ends.push(begins(after + of_step));
            }
            index = next;
        }
        ends
    }
}

fn is_backward(phase: Phase) -> bool {
    matches!(phase, Phase::Backward | Phase::Recompute | Phase::Collective)
}

fn is_forward(phase: Phase) -> bool {
    matches!(phase, Phase::Forward | Phase::Data | Phase::Setup | Phase::Unknown)
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
    let mut live = 0;
    let sum = |change: i64| {
        live += change;
        u64::try_from(live).unwrap_or(0)
    };
    changes.into_iter().map(sum).collect()
}
