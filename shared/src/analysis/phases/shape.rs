//! Phases by the shape of the curve.

use super::Phase;
use crate::analysis::period::passing_bytes;
use crate::analysis::{Allocations, Step};
use crate::trace::Device;

/// How far the curve has to fall from its highest, or to rise from its lowest, to be another part of a step.
const TURN: f64 = 0.5;

/// A step rises while activations are kept, falls while they are used up, and then the optimizer works.
pub(super) fn runs(device: &Device, allocations: &Allocations, steps: &[Step]) -> Vec<(u32, Phase)> {
    let live = passing_bytes(device, allocations);
    let mut runs = Vec::new();
    if let Some(first) = steps.first().filter(|first| first.start > 0) {
        runs.push((first.start, Phase::Setup));
    }
    for step in steps {
        of_step(&live[step.start as usize..=step.end as usize], step.start, &mut runs);
    }
    runs
}

fn of_step(live: &[u64], start: u32, runs: &mut Vec<(u32, Phase)>) {
    let highest = live.iter().copied().max().unwrap_or(0);
    let base = live[0].min(live[live.len() - 1]);
    let reach = ((highest - base) as f64 * TURN) as u64;
    let mut is_rising = true;
    let mut turn = 0;
    for (index, &bytes) in live.iter().enumerate() {
        if is_rising && bytes > live[turn] || !is_rising && bytes <= live[turn] {
            turn = index;
        }
        let has_turned = if is_rising { live[turn] - bytes > reach } else { bytes - live[turn] > reach };
        if has_turned {
            let phase = if is_rising { Phase::Forward } else { Phase::Backward };
            runs.push((start + turn as u32, phase));
            is_rising = !is_rising;
            turn = index;
        }
    }
    runs.push((start + live.len() as u32 - 1, if is_rising { Phase::Forward } else { Phase::Backward }));
}
