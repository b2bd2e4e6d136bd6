//! Estimates what a step needs in which memory ran out, since the recording does not show the rest of it.
//!
//! Idea: an earlier step that came to its end was at the same place, and rose from there to its peak. The failed step,
//! which may have another batch, would rise in proportion.
//!
//! ```text
//! live    earlier step    failed step
//!  140                         x         the same request fails: 140 of 160 would have been needed there
//!  110         /\             /
//!   80        x  \           /           at the same place 80, and 110 at the peak
//!   20 ______/    \_________/            rises: 60, 90 and 120, so that 20 + 90 · 120 / 60 = 200 are needed
//! ```
//!
//! Without such a step, equal layers that forward has not reached add as much as those that it has; the loss over a
//! vocabulary and the state of an optimizer are to come. Without layers, only a lower bound is known.
//!
//! Cost: linear in the events; for layers, the number of tensors times the longest period.

mod layers;

use self::layers::{Symbols, Tensor, bytes_of, loss_bytes, repeated};
use super::batch::BatchScale;
use super::run::ReplayReport;
use super::settings::recorded_capacity;
use crate::analysis::study::categories::{categories, live_by_given_category};
use crate::analysis::study::period::Step;
use crate::analysis::study::phases::Phase;
use crate::analysis::study::run_kind::RunKind;
use crate::analysis::study::studied::Study;
use crate::analysis::track::category::Category;
use crate::base::format;
use crate::trace::Action;

const MOST_TENSORS: usize = 16_384;

/// Adam keeps two numbers for each weight, of the size of the weight.
const STATES_OF_WEIGHT: u64 = 2;

/// Memory that the step needs in which memory first ran out.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeStep {
    pub event: u32,
    /// Live bytes that are certain: the peak, and those at the error with the request.
    pub least_bytes: u64,
    /// Estimate of the highest live bytes, at least the certain ones.
    pub bytes: u64,
    /// Part of the estimate that stays with another batch; `None` if the trace does not tell.
    pub fixed_bytes: Option<u64>,
    pub basis: StepBasis,
    /// Bytes by which memory grows per step, so that no card is large enough for long.
    pub growth_bytes: u64,
    /// Bytes that PyTorch could have when the request failed.
    pub limit_bytes: u64,
    /// Reserved bytes as a multiple of the live ones when the request failed, and all that could be given back had been.
    overhead: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepBasis {
    /// Live bytes of an earlier step at the same place and at its peak.
    EarlierStep { at_bytes: u64, peak_bytes: u64 },
    /// Equal layers, and bytes that the loss, and gradients and an optimizer such as Adam, still need.
    Layers { done: u64, all: u64, loss_bytes: u64, update_bytes: u64 },
    /// The first update of the weights, which still needs bytes for gradients and an optimizer such as Adam.
    FirstUpdate { update_bytes: u64 },
    /// Nothing: the certain bytes are all that is known.
    Unknown,
}

/// How far a recording tells that its requests fit, if its replay serves all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outlook {
    Short,
    /// The recorded requests fit; what followed the error is not known.
    Open,
    Fits,
}

crate::names!(Outlook { Short => "short", Open => "open", Fits => "fits" });

impl WholeStep {
    /// Estimates the step in which memory first ran out; `None` if it did not run out.
    pub fn of(study: &Study<'_>) -> Option<Self> {
        let events = &study.device.events;
        let event = events.actions().iter().position(|action| action == Action::Oom)?;
        let asked_bytes = events.sizes_bytes().at(event);
        let at_error = study.timeline.live_at(event as u32).saturating_add(asked_bytes);
        let least_bytes = at_error.max(study.timeline.live_peak().1);
        let (basis, bytes) = of_earlier_step(study, event, at_error)
            .or_else(|| of_first_step(study, event, (at_error, asked_bytes)))
            .unwrap_or((StepBasis::Unknown, least_bytes));
        let bytes = bytes.max(least_bytes);
        let scaled = BatchScale::of(study).map(|scale| scale.bytes_at(study, event));
        let (live, reserved) = (study.timeline.live_at(event as u32), study.timeline.reserved_at(event as u32));
        Some(Self {
            event: event as u32,
            least_bytes,
            bytes,
            fixed_bytes: scaled.map(|scaled| at_error.saturating_sub(scaled).saturating_add(basis.update_bytes())),
            basis,
            growth_bytes: study.growth.bytes_per_step(),
            limit_bytes: recorded_capacity(study.device, study.timeline)?,
            overhead: if live == 0 { 1.0 } else { reserved as f64 / live as f64 },
        })
    }

    /// Judges a card on which PyTorch can use `usable_bytes` by a replay that serves all requests.
    pub fn outlook(&self, report: &ReplayReport, usable_bytes: u64) -> Outlook {
        match self.basis {
            _ if self.reserved_bytes(report) > usable_bytes => Outlook::Short,
            StepBasis::EarlierStep { .. } if self.growth_bytes == 0 => Outlook::Fits,
            _ => Outlook::Open,
        }
    }

    /// Returns the bytes that the step reserves: no more in proportion than when memory was full, and than a replay.
    pub fn reserved_bytes(&self, report: &ReplayReport) -> u64 {
        let (live, reserved) = (report.counters.live_bytes.peak, report.counters.reserved_bytes.peak);
        let overhead = (reserved as f64 / live.max(1) as f64).min(self.overhead).max(1.0);
        (self.bytes as f64 * overhead) as u64
    }

    /// Returns the largest multiple of the batch with which the whole step fits where PyTorch can use `usable_bytes`.
    ///
    /// It is `None` if nothing tells what the whole step needs, or what of it grows with the batch.
    pub fn batch_factor(&self, usable_bytes: u64) -> Option<f64> {
        let fixed = self.fixed_bytes.filter(|_| self.basis != StepBasis::Unknown)?;
        let scaled = self.bytes.checked_sub(fixed).filter(|&bytes| bytes > 0)?;
        let live_bytes = (usable_bytes as f64 / self.overhead.max(1.0)) as u64;
        Some(live_bytes.saturating_sub(fixed) as f64 / scaled as f64)
    }

    /// Says what the whole step needs, and how that is known.
    pub fn text(&self) -> String {
        let (about, least) = (format::bytes(self.bytes), format::bytes(self.least_bytes));
        let needs = match self.basis {
            StepBasis::EarlierStep { at_bytes, peak_bytes } => {
                let rose = match peak_bytes > at_bytes {
                    true => format!("and rose to {}", format::bytes(peak_bytes)),
                    false => "where it had its peak".to_owned(),
                };
                let at = format::bytes(at_bytes);
                format!("An earlier step was at {at} at the same place {rose}, so this step needs about {about}.")
            }
            StepBasis::Layers { done, all, loss_bytes, update_bytes } => {
                let parts = [(loss_bytes, "the loss"), (update_bytes, "gradients and an optimizer such as Adam")];
                let parts = parts.into_iter().filter(|part| part.0 > 0);
                let parts: String =
                    parts.map(|(bytes, what)| format!(", {} for {what}", format::bytes(bytes))).collect();
                format!(
                    "Forward had passed {done} of {all} equal layers; with the others{parts}, the step needs about {about}."
                )
            }
            StepBasis::FirstUpdate { update_bytes } => format!(
                "With another {} for gradients and an optimizer such as Adam, a step needs about {about}.",
                format::bytes(update_bytes)
            ),
            StepBasis::Unknown => format!("What followed is not known: the program needs at least {least}."),
        };
        let grows = match self.growth_bytes {
            0 => String::new(),
            bytes => format!(" It also grows by {} per step.", format::bytes(bytes)),
        };
        format!("The recorded step ends in the error. {needs}{grows}")
    }
}

impl StepBasis {
    pub fn name(self) -> &'static str {
        match self {
            Self::EarlierStep { .. } => "earlier-step",
            Self::Layers { .. } => "layers",
            Self::FirstUpdate { .. } => "first-update",
            Self::Unknown => "unknown",
        }
    }

    fn update_bytes(self) -> u64 {
        match self {
            Self::Layers { update_bytes, .. } | Self::FirstUpdate { update_bytes } => update_bytes,
            Self::EarlierStep { .. } | Self::Unknown => 0,
        }
    }
}

/// Scales the latest earlier step that came to the place of the error.
fn of_earlier_step(study: &Study<'_>, event: usize, at_error: u64) -> Option<(StepBasis, u64)> {
    let (earlier, start) = earlier_steps(study, event as u32);
    let number = of_same_stack(study, event, Step { start, end: event as u32 }).count();
    let place = |step: &&Step| Some((**step, of_same_stack(study, event, **step).nth(number)?));
    let (step, same) = earlier.iter().rev().find_map(|step| place(&step))?;
    let timeline = study.timeline;
    let (before, before_then) = (timeline.live_at(start), timeline.live_at(step.start));
    let at_bytes = timeline.live_at(same + 1);
    let (_, peak_bytes) = timeline.live_max_in(step.start..step.end + 1);
    let rise = |to: u64| to.saturating_sub(before_then) as f64;
    let factor = match rise(at_bytes) {
        0.0 => 1.0,
        then => at_error.saturating_sub(before) as f64 / then,
    };
    let bytes = before.saturating_add((rise(peak_bytes) * factor) as u64);
    Some((StepBasis::EarlierStep { at_bytes, peak_bytes }, bytes))
}

/// Returns the events of a step that allocate from the stack of an event.
fn of_same_stack(study: &Study<'_>, event: usize, step: Step) -> impl Iterator<Item = u32> {
    let events = &study.device.events;
    let stack = events.stacks().at(event);
    let is_same =
        move |&at: &u32| events.actions().at(at as usize) == Action::Alloc && events.stacks().at(at as usize) == stack;
    (step.start..step.end).filter(is_same)
}

/// Returns the steps that ended before an event, and the moment at which the step of the event began.
fn earlier_steps(study: &Study<'_>, event: u32) -> (Vec<Step>, u32) {
    let steps = match study.repeats() {
        [] => passes(study),
        steps => steps.to_vec(),
    };
    let earlier: Vec<Step> = steps.iter().copied().filter(|step| step.end <= event).collect();
    let own = steps.iter().find(|step| step.start <= event && event < step.end);
    let start = own.map(|step| step.start).or_else(|| earlier.last().map(|step| step.end));
    (earlier, start.unwrap_or(0))
}

/// Returns the ranges from each forward pass to the next one behind a backward pass.
///
/// One whole step and a failed one are too few for [`Steps`](crate::analysis::study::steps::Steps).
fn passes(study: &Study<'_>) -> Vec<Step> {
    let (mut starts, mut is_forward, mut start) = (Vec::new(), false, 0);
    for &(end, phase) in study.phases.runs() {
        match phase {
            Phase::Data | Phase::Forward if !is_forward => {
                starts.push(start);
                is_forward = true;
            }
            Phase::Backward | Phase::Optimizer => is_forward = false,
            _ => {}
        }
        start = end;
    }
    starts.windows(2).map(|pair| Step { start: pair[0], end: pair[1] }).collect()
}

/// Adds what follows in a first step: layers of forward, and the state of the optimizer.
fn of_first_step(study: &Study<'_>, event: usize, (at_error, asked_bytes): (u64, u64)) -> Option<(StepBasis, u64)> {
    let (device, timeline) = (study.device, study.timeline);
    if !matches!(study.kind, RunKind::Forward | RunKind::Training) || !study.phases.are_told() {
        return None;
    }
    let categories = categories(device, timeline, &study.phases);
    let rows = live_by_given_category(&timeline.allocations, &categories, event as u32);
    let of = |category: Category| rows.iter().find(|row| row.category == category).map_or(0, |row| row.bytes);
    let (weights, state) = (of(Category::Parameter), of(Category::OptimizerState));
    let state_left = weights.saturating_mul(STATES_OF_WEIGHT).saturating_sub(state);
    let update_bytes = state_left.saturating_add(weights.saturating_sub(of(Category::Gradient)));
    match study.phases.of_birth(event as u32 + 1, device.events.stacks().at(event)) {
        Phase::Forward => {
            let mut symbols = Symbols::default();
            let mut tensors = |wanted: Category| -> Vec<Tensor> {
                let alive = timeline.allocations.alive_at(event as u32);
                let wanted = alive.filter(|(id, _)| categories[id.index()] == wanted).take(MOST_TENSORS);
                wanted
                    .map(|(id, bytes)| (symbols.of(study, timeline.allocations.allocation_stack(id, device)), bytes))
                    .collect()
            };
            let (kept, weights_of) = (tensors(Category::Activation), tensors(Category::Parameter));
            let (layers, of_model) = (repeated(&kept)?, repeated(&weights_of)?);
            let (done, all) = (layers.rounds() as u64, of_model.rounds() as u64);
            let of_layers = bytes_of(&kept[layers.run.clone()]);
            let of_round = bytes_of(&kept[layers.first_round()]);
            let left = of_round.saturating_mul(all).checked_sub(of_layers).filter(|_| done <= all)?;
            let behind = bytes_of(&kept[layers.run.end..]) + if done == all { asked_bytes } else { 0 };
            let loss_bytes = loss_bytes((&kept, &layers), (&weights_of, &of_model)).saturating_sub(behind);
            let basis = StepBasis::Layers { done, all, loss_bytes, update_bytes };
            let parts = [at_error, left, loss_bytes, update_bytes];
            Some((basis, parts.into_iter().fold(0, u64::saturating_add)))
        }
        Phase::Backward | Phase::Optimizer if update_bytes > 0 => {
            let peak = at_error.max(timeline.live_max_in(0..event as u32 + 1).1);
            Some((StepBasis::FirstUpdate { update_bytes }, peak.saturating_add(update_bytes)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
