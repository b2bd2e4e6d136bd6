//! Finds state of an optimizer that no longer steps while another one does.
//!
//! Idea: a step allocates in each of its calls, such as the temporaries of its arithmetic. An optimizer whose line has
//! stopped to allocate has stopped to step; a fused one, which allocates its state alone, tells nothing.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank, events_of};
use super::own_code::{Own, own_line};
use crate::analysis::study::growth::{GrowthClass, Kept};
use crate::analysis::study::phases::Phase;
use crate::analysis::study::sites::SpineId;
use crate::analysis::study::studied::Study;
use crate::base::format;
use crate::trace::Action;
use hashbrown::HashMap;

/// Less than 1/20 of the peak is not reported.
const LEAST_SHARE: u64 = 20;

/// It steps at least that often before it stops, and others after that.
const LEAST_STEPS: usize = 3;

/// Returns state that the last quarter of the steps or more keeps in vain, with the last step of its optimizer.
pub(super) fn left<'a>(study: &'a Study<'_>) -> Vec<(&'a Kept, usize)> {
    let is_state = |kept: &&Kept| kept.class == Some(GrowthClass::OptimizerState) && kept.latest.is_some();
    let states: Vec<&Kept> = study.growth.kept.iter().filter(is_state).collect();
    let spine_of = |kept: &Kept| study.sites.of_stack(kept.stack).spine;
    // With one optimizer there is none that goes on.
    if states.windows(2).all(|pair| spine_of(pair[0]) == spine_of(pair[1])) {
        return Vec::new();
    }
    let (count, stepping) = (study.repeats().len(), stepping(study));
    let last_of_all = stepping.values().filter_map(|steps| steps.last()).max().copied().unwrap_or(0);
    let stopped = |kept: &'a Kept| {
        let steps = stepping.get(&spine_of(kept)).filter(|steps| steps.len() >= LEAST_STEPS)?;
        let last = *steps.last()?;
        let pause = count - last;
        // One that takes turns with others has paused before.
        let returns = steps.windows(2).any(|pair| (pair[1] - pair[0]) * 2 >= pause);
        (last + LEAST_STEPS <= last_of_all && pause * 4 >= count && !returns).then_some((kept, last))
    };
    states.into_iter().filter_map(stopped).collect()
}

pub(super) fn finding(study: &Study<'_>) -> Option<Finding> {
    let left = left(study);
    let last = left.iter().map(|(_, last)| last).max()? + 1;
    let rows: Vec<&Kept> = left.into_iter().map(|(kept, _)| kept).collect();
    let bytes: u64 = rows.iter().map(|kept| kept.end_bytes).sum();
    if bytes.saturating_mul(LEAST_SHARE) < study.timeline.live_peak().1 {
        return None;
    }
    let weighed = || rows.iter().map(|kept| (kept.end_bytes, kept.stack));
    let what = format!("{} of an optimizer that steps no more", format::bytes(bytes));
    let steps = study.repeats().len();
    let shows = format!("It stepped last in step {last} of {steps}, and its state stays to the end.");
    let found = Finding::warning(study, FindingCode::OptimizerLeft, Confidence::Medium, Rank::Cause, bytes);
    let own = own_line(study, weighed(), Own::Call);
    Some(found.placed(&what, ", in ", own).shown(shows, events_of(study, &rows), weighed()).advised(
        "Delete the optimizer after its last step, and whatever refers to it, such as a scheduler or a list of both: \
         ``del optimizer, scheduler``.\n\
         Before weights are frozen, free their gradients: ``optimizer.zero_grad(set_to_none=True)``.\n\n\
         A scheduler refers to its optimizer, and the optimizer to its state.",
    ))
}

/// Returns the steps in which each optimizer's place allocates, in order.
fn stepping(study: &Study<'_>) -> HashMap<SpineId, Vec<usize>> {
    let (actions, stacks) = (study.device.events.actions(), study.device.events.stacks());
    let mut found: HashMap<SpineId, Vec<usize>> = HashMap::new();
    for (number, step) in study.repeats().iter().enumerate() {
        for event in step.start..step.end {
            let stack = stacks.at(event as usize);
            let spine = study.sites.of_stack(stack).spine;
            if actions.at(event as usize) == Action::Alloc
                && spine != SpineId::NONE
                && study.phases.of_birth(event + 1, stack) == Phase::Optimizer
            {
                let steps = found.entry(spine).or_default();
                if steps.last() != Some(&number) {
                    steps.push(number);
                }
            }
        }
    }
    found
}
