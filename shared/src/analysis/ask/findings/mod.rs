//! Draws findings in words from a trace, the most important first.
//!
//! Each kind of finding has a file; a finding says what was found, what shows it and what to do, and claims no more
//! than the trace shows.
//!
//! The rules were written with `tests/mistakes` and recordings of other people: a mistake there that no rule names, or
//! a healthy run that one reports, proves a rule wrong.

mod abandoned;
mod advice;
mod cache;
mod captured;
mod code;
mod collecting;
mod devices;
mod evaluating;
mod finding;
mod growing;
mod hooks;
mod left_optimizer;
mod limits;
mod loading;
mod logits;
mod memory_out;
mod outside;
mod own_code;
mod parts;
mod passes;
mod peak;
mod pinned;
mod precision;
mod recorded;
mod retained;
mod settled;
mod staying;
mod tiny;
mod tried;
mod unfolded;
mod waste;

use crate::analysis::study::studied::Study;
use crate::analysis::study::unused_graphs::unused_graphs;
use crate::analysis::track::timeline::Timeline;
use crate::base::ShortSort;
use crate::trace::{Accelerator, Device, Trace};
use std::cmp::Reverse;

pub use advice::{Advice, AdviceStep, StepKind};
pub use code::FindingCode;
pub use finding::{AtPeak, Confidence, Evidence, Finding, LONGEST_TITLE, Rank, SourceLine, title_of_parts};
pub use limits::FindingsConfig;
pub use parts::{FindingPart, FindingTarget, finding_parts, finding_target, part_text};

/// Draws all findings about the devices of a trace, given with their timelines.
///
/// Errors come first, then warnings; within one severity causes come before their consequences, then more bytes first.
pub fn findings(trace: &Trace, devices: &[(&Device, &Timeline)], config: &FindingsConfig) -> Vec<Finding> {
    findings_of(trace, &studies(trace, devices), config)
}

/// Studies the devices whose memory was in use.
pub fn studies<'a>(trace: &'a Trace, devices: &[(&'a Device, &'a Timeline)]) -> Vec<Study<'a>> {
    let is_used = |timeline: &Timeline| timeline.reserved_peak().1 > 0 || timeline.live_peak().1 > 0;
    let used = devices.iter().filter(|(_, timeline)| is_used(timeline));
    used.map(|(device, timeline)| Study::new(trace, device, timeline)).collect()
}

/// Same as [`findings`] for devices that were already studied.
pub fn findings_of(trace: &Trace, studies: &[Study<'_>], config: &FindingsConfig) -> Vec<Finding> {
    if studies.is_empty() {
        let found = pinned::finding(trace).unwrap_or_else(|| recorded::of_nothing(trace));
        return in_words_of(Accelerator::of(trace), vec![found]);
    }
    let mut found: Vec<Finding> = studies.iter().flat_map(|study| of_device(study, config)).collect();
    found.extend(devices::findings(studies));
    found.extend(pinned::finding(trace));
    found
        .short_sort_by_key(|finding| (Reverse(finding.severity), finding.rank, Reverse(finding.bytes), finding.device));
    in_words_of(Accelerator::of(trace), found)
}

/// Puts findings, which are written about CUDA, into the words of a kind of device.
fn in_words_of(accelerator: Accelerator, mut found: Vec<Finding>) -> Vec<Finding> {
    for Finding { title, evidence, advice, .. } in &mut found {
        let of_steps = advice.steps.iter_mut().flat_map(|step| [&mut step.text, &mut step.value]);
        for text in [title, &mut evidence.shows, &mut advice.why].into_iter().chain(of_steps) {
            *text = accelerator.words(std::mem::take(text));
        }
    }
    found
}

fn of_device(study: &Study<'_>, config: &FindingsConfig) -> Vec<Finding> {
    let mut found = memory_out::findings(study);
    found.extend(abandoned::finding(study));
    found.extend(config.capacity_bytes.and_then(|capacity| outside::finding(study, capacity)));
    let unused = unused_graphs(study);
    found.extend(growing::findings(study, config, &unused));
    found.extend(left_optimizer::finding(study));
    found.extend(hooks::finding(study));
    found.extend(settled::finding(study));
    found.extend(limits::findings(study, config));
    let retained = retained::finding(study);
    // Passes that wait because their graphs are kept do not wait for one backward, nor for one that never runs.
    let is_told = |one: &Finding| match one.code {
        FindingCode::SeveralGraphsAtOnce => retained.is_some(),
        FindingCode::EvaluationWithGraph => retained.is_some() && retained::is_usual(study),
        _ => false,
    };
    found.extend(staying::findings(study, &unused).into_iter().filter(|one| !is_told(one)));
    let evaluating = evaluating::finding(study, &unused);
    // Outputs with their graphs are told as graphs.
    let are_graphs = |one: &Finding| {
        one.code == FindingCode::EvaluationOutputsCollected
            && evaluating.as_ref().is_some_and(|graphs| graphs.bytes >= one.bytes)
    };
    found.extend(collecting::findings(study).into_iter().filter(|one| !are_graphs(one)));
    found.extend(evaluating);
    found.extend(retained);
    found.extend(loading::findings(study));
    found.extend(logits::finding(study));
    found.extend(unfolded::finding(study));
    found.extend(recorded::finding(study));
    found.extend(precision::finding(study));
    found.extend(cache::finding(study));
    found.extend(captured::finding(study));
    found.extend(tiny::finding(study));
    found.extend(waste::finding(study, config.capacity_bytes));
    found.extend(peak::finding(study));
    found
}

#[cfg(test)]
mod tests;
