//! Training steps, from annotations or from the trace's own period.

use super::spans::{Span, spans};
use super::{Allocations, period};
use crate::trace::{Device, Trace};

/// How steps were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepSource {
    /// Annotations that name steps, such as `ProfilerStep#3`.
    Annotations,
    /// Annotations of the optimizer, each of which ends a step.
    Optimizer,
    /// What is allocated comes again and again in the same order.
    Period,
}

/// One training step: the events after the moment `start`, up to the moment `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The moment before its first event.
    pub start: u32,
    /// The moment after its last event.
    pub end: u32,
}

impl Step {
    /// Whether an event that leads to this moment is part of the step.
    pub fn contains(&self, moment: u32) -> bool {
        self.start < moment && moment <= self.end
    }
}

/// The training steps of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    /// How they were found.
    pub source: StepSource,
    /// In their order; they do not overlap.
    pub steps: Vec<Step>,
}

/// The start of the name that PyTorch's profiler gives the span of a step.
const PROFILER_STEP: &str = "ProfilerStep#";

/// The start of the name that optimizers give the span of their step: `Optimizer.step#AdamW.step`.
const OPTIMIZER_STEP: &str = "Optimizer.step#";

/// Words that tell a step in a name that is somebody's own, the better one first.
const OWN_WORDS: [&str; 3] = ["step", "iter", "batch"];

impl Steps {
    /// Finds the steps, or `None` where there are not two of them.
    pub fn find(trace: &Trace, device: &Device, allocations: &Allocations) -> Option<Self> {
        let spans = spans(trace, device);
        Self::annotated(trace, &spans)
            .or_else(|| {
                let updates = named(trace, &spans, |name| name.starts_with(OPTIMIZER_STEP));
                Self::of(StepSource::Optimizer, ended_by(&updates))
            })
            .or_else(|| Self::of(StepSource::Period, period::steps(device, allocations)))
    }

    /// The steps that some of a device's spans are, or `None` where there are not two of them.
    pub fn annotated(trace: &Trace, spans: &[Span]) -> Option<Self> {
        let of_name =
            |is_step: &dyn Fn(&str) -> bool| Self::of(StepSource::Annotations, apart(&named(trace, spans, is_step)));
        of_name(&|name| name.starts_with(PROFILER_STEP))
            .or_else(|| OWN_WORDS.iter().find_map(|word| of_name(&|name| is_own(name, word))))
    }

    fn of(source: StepSource, steps: Vec<Step>) -> Option<Self> {
        (steps.len() > 1).then_some(Self { source, steps })
    }

    /// The step that the event which leads to a moment is part of.
    pub fn of_moment(&self, moment: u32) -> Option<usize> {
        let index = self.steps.partition_point(|step| step.end < moment);
        self.steps.get(index).is_some_and(|step| step.contains(moment)).then_some(index)
    }
}

/// The spans with names of a kind.
fn named(trace: &Trace, spans: &[Span], is_named: impl Fn(&str) -> bool) -> Vec<Span> {
    spans.iter().filter(|span| is_named(trace.strings.get(span.name))).copied().collect()
}

/// Whether a name is a word with the number of a step, such as `step 3`, `train_step_3` or `iteration#3`.
fn is_own(name: &str, word: &str) -> bool {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    stem.to_ascii_lowercase().contains(word) && !stem.starts_with(OPTIMIZER_STEP) && !stem.contains("opt")
}

/// Spans as steps, without those that lie within or across the one before.
fn apart(spans: &[Span]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for span in spans {
        let step = Step { start: span.start_moment, end: span.end_moment };
        let is_after = steps.last().is_none_or(|last| last.end <= step.start);
        if is_after && step.start < step.end {
            steps.push(step);
        }
    }
    steps
}

/// Steps that end with these spans; several without anything between them are one, as with two optimizers.
fn ended_by(spans: &[Span]) -> Vec<Step> {
    let mut ends: Vec<u32> = Vec::new();
    for span in spans {
        match ends.last_mut() {
            Some(last) if span.start_moment <= *last => *last = (*last).max(span.end_moment),
            _ => ends.push(span.end_moment),
        }
    }
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(&ends).map(|(start, &end)| Step { start, end }).filter(|step| step.start < step.end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::text;

    /// Checks the steps of a trace, written as `start..end`.
    #[track_caller]
    fn check(source: &str, expected: Option<(StepSource, &[&str])>) {
        let trace = text::parse(source).unwrap();
        let device = &trace.devices[0];
        let found = Steps::find(&trace, device, &Allocations::pair(device));
        let written = |steps: &Steps| steps.steps.iter().map(|step| format!("{}..{}", step.start, step.end)).collect();
        let found: Option<(StepSource, Vec<String>)> = found.map(|steps| (steps.source, written(&steps)));
        let expected = expected.map(|(source, steps)| (source, steps.iter().map(|&step| step.to_owned()).collect()));
        assert_eq!(found, expected);
    }

    /// Six events at 10, 20 … 60 µs, with annotations.
    fn events(annotations: &[&str]) -> String {
        let events: String = (1..7).map(|index| format!("alloc a{index} 8 t={}0\n", index)).collect();
        events + &annotations.join("\n")
    }

    #[test]
    fn the_profilers_steps_come_first() {
        let annotations = [
            "start ProfilerStep#1 t=15",
            "start Optimizer.step#Adam.step t=25",
            "end Optimizer.step#Adam.step t=35",
            "end ProfilerStep#1 t=35",
            "start ProfilerStep#2 t=35",
            "end ProfilerStep#2 t=55",
        ];
        check(&events(&annotations), Some((StepSource::Annotations, &["1..3", "3..5"])));
    }

    #[test]
    fn names_of_ones_own_may_tell_steps() {
        let annotations = ["start iter_1 t=15", "end iter_1 t=35", "start iter_2 t=35", "end iter_2 t=55"];
        check(&events(&annotations), Some((StepSource::Annotations, &["1..3", "3..5"])));
    }

    #[test]
    fn a_step_of_the_optimizer_ends_a_step() {
        let annotations = [
            "start Optimizer.step#Adam.step t=15",
            "end Optimizer.step#Adam.step t=25",
            "start Optimizer.step#Adam.step t=45",
            "end Optimizer.step#Adam.step t=55",
        ];
        check(&events(&annotations), Some((StepSource::Optimizer, &["0..2", "2..5"])));
    }

    #[test]
    fn a_moment_is_part_of_the_step_that_its_event_is_in() {
        let steps = [Step { start: 1, end: 3 }, Step { start: 4, end: 6 }].to_vec();
        let steps = Steps { source: StepSource::Period, steps };
        let found: Vec<Option<usize>> = (0..8).map(|moment| steps.of_moment(moment)).collect();
        assert_eq!(found, [None, None, Some(0), Some(0), None, Some(1), Some(1), None]);
    }

    /// A step that builds up three layers and takes them down again.
    fn step(index: usize) -> String {
        let up = (0..3).map(|layer| format!("alloc a{layer}.{index} {}KiB @layer\n", 4 + layer));
        let down = (0..3).rev().map(|layer| format!("free a{layer}.{index}\n"));
        let begins = format!("alloc e.{index} 1KiB @embed\n");
        let turns = format!("alloc l.{index} 2KiB @loss\nfree l.{index}\n");
        [begins].into_iter().chain(up).chain([turns]).chain(down).chain([format!("free e.{index}\n")]).collect()
    }

    #[test]
    fn what_comes_again_and_again_tells_steps() {
        let source = "alloc weights 1KiB @init\n".to_owned() + &(0..4).map(step).collect::<String>();
        check(&source, Some((StepSource::Period, &["1..16", "16..31", "31..46", "46..61"])));
    }

    #[test]
    fn a_single_step_has_no_period() {
        check(&step(0), None);
        check("", None);
    }
}
