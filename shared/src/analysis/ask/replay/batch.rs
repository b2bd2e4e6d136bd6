//! Estimates the memory of the same training with a larger or a smaller batch.
//!
//! Idea: memory that holds data of a batch grows with it, memory of the model does not.
//! Inputs, activations, memory of evaluations and the temporaries of forward and backward are requested in another
//! size; parameters, gradients, the optimizer's state and memory from before the trace stay as they are.
//! It is an estimate, because libraries choose other algorithms for other sizes, and some temporaries are as large as
//! a weight.
//!
//! ```text
//! weights 4, activations 2 + 2, device 10      factor 1 takes 8, factor 1.5 takes 10, factor 2 takes 12
//! ```

use super::steps::{Step, StepKind};
use crate::analysis::study::categories::categories;
use crate::analysis::study::phases::Phase;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::{Allocations, Origin};
use crate::analysis::track::category::Category;
use crate::trace::Action;

/// Requests of a trace that grow with the batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchScale {
    is_scaled: Vec<bool>,
    /// Bytes of these requests that are alive at the peak.
    peak_bytes: u64,
}

impl BatchScale {
    /// Finds these requests by the categories of their allocations.
    ///
    /// Returns `None` if none of them is alive at the peak, such as without steps and phases.
    pub fn of(study: &Study<'_>) -> Option<Self> {
        let Study { device, timeline, phases, .. } = study;
        let allocations = &timeline.allocations;
        let categories = categories(device, timeline, phases);
        let mut is_scaled = vec![false; device.events.len()];
        for id in allocations.ids() {
            let Origin::Event(event) = allocations.origin(id) else { continue };
            let phase = || phases.of_birth(event as u32 + 1, allocations.allocation_stack(id, device));
            is_scaled[event] = grows(categories[id.index()], phase);
        }
        for (event, action) in device.events.actions().iter().enumerate() {
            let is_of_pass = || is_pass(phases.of_birth(event as u32 + 1, device.events.stacks().at(event)));
            is_scaled[event] |= action == Action::Oom && is_of_pass();
        }
        let mut scale = Self { is_scaled, peak_bytes: 0 };
        scale.peak_bytes = scale.alive_bytes(allocations, timeline.live_peak().0);
        (scale.peak_bytes > 0).then_some(scale)
    }

    /// Returns the bytes that grow with the batch and are alive at a moment.
    fn alive_bytes(&self, allocations: &Allocations, moment: u32) -> u64 {
        let scaled = allocations.alive_at(moment).filter(|(id, _)| match allocations.origin(*id) {
            Origin::Event(event) => self.is_scaled[event],
            _ => false,
        });
        scaled.map(|(_, size_bytes)| size_bytes).sum()
    }

    /// Returns the bytes that grow with the batch and are alive when a request fails, with the request if it grows.
    pub fn bytes_at(&self, study: &Study<'_>, failed: usize) -> u64 {
        let asked_bytes = if self.is_scaled[failed] { study.device.events.sizes_bytes().at(failed) } else { 0 };
        self.alive_bytes(&study.timeline.allocations, failed as u32).saturating_add(asked_bytes)
    }

    pub fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }

    /// Multiplies the size of a step's request by `factor` if it grows with the batch.
    pub(super) fn apply(&self, step: &mut Step, factor: f64) {
        if !self.is_scaled.get(step.event).is_some_and(|is_scaled| *is_scaled) {
            return;
        }
        if let StepKind::Allocate { size_bytes, .. } | StepKind::Fail { size_bytes, .. } = &mut step.kind {
            *size_bytes = (*size_bytes as f64 * factor).ceil() as u64;
        }
    }
}

fn grows(category: Category, phase: impl Fn() -> Phase) -> bool {
    match category {
        Category::Activation | Category::Input | Category::Evaluation => true,
        Category::Temporary => is_pass(phase()),
        _ => false,
    }
}

fn is_pass(phase: Phase) -> bool {
    matches!(phase, Phase::Data | Phase::Forward | Phase::Backward | Phase::Recompute | Phase::Evaluation)
}

/// Largest factor that is tried; the smallest is its reciprocal, 1/64.
const MOST: f64 = 64.0;
/// Number of halvings of the range between two powers of two, which finds a factor to 1/16 of the lower one.
const HALVINGS: u32 = 4;

/// Search for the largest factor that fits, one replay after another.
///
/// It tries powers of two first, then bisects between the largest that fits and the smallest that does not.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchSearch {
    fits: Option<f64>,
    fails: Option<f64>,
    halvings: u32,
}

impl Default for BatchSearch {
    fn default() -> Self {
        Self { fits: None, fails: None, halvings: HALVINGS }
    }
}

impl BatchSearch {
    pub fn next_factor(&self) -> Option<f64> {
        match (self.fits, self.fails) {
            (None, None) => Some(1.0),
            (Some(fits), None) => (fits < MOST).then_some(fits * 2.0),
            (None, Some(fails)) => (fails > MOST.recip()).then_some(fails / 2.0),
            (Some(fits), Some(fails)) => (self.halvings > 0).then(|| f64::midpoint(fits, fails)),
        }
    }

    pub fn tell(&mut self, factor: f64, does_fit: bool) {
        if self.fits.is_some() && self.fails.is_some() {
            self.halvings = self.halvings.saturating_sub(1);
        }
        *(if does_fit { &mut self.fits } else { &mut self.fails }) = Some(factor);
    }

    pub fn best(&self) -> Option<f64> {
        self.fits
    }

    /// Returns true if all factors up to the largest one fit.
    pub fn is_beyond(&self) -> bool {
        self.fails.is_none() && self.fits.is_some_and(|fits| fits >= MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::super::ReplayConfig;
    use super::*;
    use crate::allocator::Settings;
    use crate::analysis::ask::tests::Sample;

    /// Searches among factors of which those up to `limit` fit; returns the best one and the number of tries.
    fn search(limit: f64) -> (Option<f64>, u32) {
        let mut search = BatchSearch::default();
        let mut tried = 0;
        while let Some(factor) = search.next_factor() {
            search.tell(factor, factor <= limit);
            tried += 1;
        }
        (search.best(), tried)
    }

    #[test]
    fn the_largest_factor_is_found_to_a_sixteenth() {
        for sixteenths in 16..1000 {
            let limit = f64::from(sixteenths) / 16.0;
            let (best, tried) = search(limit);
            let best = best.unwrap();
            assert!(
                best <= limit && limit < best + best.log2().floor().exp2() / 16.0 && tried <= 12,
                "{limit}: {best}"
            );
        }
        assert_eq!(search(1000.0).0, Some(64.0));
        assert_eq!(search(0.3).0, Some(0.296_875));
        assert_eq!(search(0.0), (None, 7));
    }

    /// Training step with weights and gradients of 40 MiB each, and two activations of 20 MiB each.
    const TRAINING: &str = "
        alloc w 40MiB @setup@phase
        alloc a 20MiB @forward@phase
        alloc b 20MiB @forward@phase
        alloc g 40MiB @backward@phase
        free b
        free a
        alloc t 2MiB @optimizer@phase
        free t
        free g
    ";

    #[test]
    fn what_a_batch_passes_through_grows() {
        let sample = Sample::of(TRAINING);
        let scale = BatchScale::of(&sample.study()).unwrap();
        assert_eq!(scale.peak_bytes(), 40 << 20);
        let replayer = sample.replayer();
        let on = |mib: u64| ReplayConfig { capacity_bytes: mib << 20, ..ReplayConfig::unlimited(Settings::default()) };
        assert!(replayer.fits(&on(120), Some((&scale, 1.0))) && !replayer.fits(&on(119), Some((&scale, 1.0))));
        assert!(replayer.fits(&on(160), Some((&scale, 2.0))) && !replayer.fits(&on(159), Some((&scale, 2.0))));
    }

    #[test]
    fn without_phases_nothing_is_known_to_grow() {
        assert_eq!(BatchScale::of(&Sample::of("alloc a 1MiB\nalloc b 1MiB").study()), None);
    }
}
