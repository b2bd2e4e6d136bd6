//! Finds training steps by annotations, by updates of weights, or by repetition.

use crate::analysis::study::period;
use crate::analysis::study::period::Step;
use crate::analysis::study::phases::{Phase, PhaseBasis, Phases};
use crate::analysis::study::sites::{Sites, SpineId};
use crate::analysis::track::allocations::Allocations;
use crate::analysis::track::spans::{Span, spans};
use crate::trace::{Action, Device, Trace};
use std::cmp::Ordering;

/// Evidence by which steps were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepSource {
    /// Annotations with names of steps, such as `ProfilerStep#3`.
    #[default]
    Annotations,
    /// Ends of the optimizer's work: its annotations or operations, or gradients that are freed before the next pass.
    Optimizer,
    /// Allocations that repeat in the same order.
    Period,
}

crate::names!(StepSource {
    Annotations => "annotations",
    Optimizer => "optimizer",
    Period => "period",
});

impl StepSource {
    /// Describes in words how steps were found; `None` for annotations.
    pub fn origin(self) -> Option<&'static str> {
        match self {
            Self::Annotations => None,
            Self::Optimizer => Some("inferred from optimizer updates"),
            Self::Period => Some("inferred from repetition"),
        }
    }
}

/// Training steps of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    pub source: StepSource,
    /// Steps in their order; they do not overlap.
    pub steps: Vec<Step>,
}

/// Prefix of the span names that PyTorch's profiler gives to steps.
const PROFILER_STEP: &str = "ProfilerStep#";

/// Prefix of the span names that optimizers give to their steps: `Optimizer.step#AdamW.step`.
const OPTIMIZER_STEP: &str = "Optimizer.step#";

/// Words that indicate a step in annotations of the user's own, the more reliable first.
const OWN_WORDS: [&str; 3] = ["step", "iter", "batch"];

/// Minimum number of repetitions if functions identify phases but no updates; two may be a coincidence.
const LEAST_WITHOUT_UPDATES: usize = 3;

/// At least 1/2 of the allocations from the first annotated step on must lie within annotated steps.
const LEAST_ANNOTATED: usize = 2;

impl Steps {
    /// Finds the steps; returns `None` if there are fewer than two.
    pub fn find(trace: &Trace, device: &Device, allocations: &Allocations) -> Option<Self> {
        Self::of(trace, device, allocations, &Phases::find(trace, device, allocations), &Sites::of(trace))
    }

    /// Finds the steps of a device whose phases and sites are known.
    pub(in crate::analysis) fn of(
        trace: &Trace,
        device: &Device,
        allocations: &Allocations,
        phases: &Phases,
        sites: &Sites,
    ) -> Option<Self> {
        let spans = spans(trace, device);
        let annotated = Self::annotated(trace, &spans).filter(|steps| steps.hold_most(allocations));
        annotated.or_else(|| {
            let updates = named(trace, &spans, |name| name.starts_with(OPTIMIZER_STEP));
            Self::new(StepSource::Optimizer, ended_by(&updates, phases.setup_end()))
                .or_else(|| Self::told_by(device, allocations, phases))
                .map(|steps| steps.of_several_optimizers(trace, device, phases, sites))
        })
    }

    fn new(source: StepSource, steps: Vec<Step>) -> Option<Self> {
        (steps.len() > 1).then_some(Self { source, steps })
    }

    /// Finds the steps among a device's spans; returns `None` if there are fewer than two.
    pub fn annotated(trace: &Trace, spans: &[Span]) -> Option<Self> {
        let of_name =
            |is_step: &dyn Fn(&str) -> bool| Self::new(StepSource::Annotations, apart(&named(trace, spans, is_step)));
        of_name(&|name| name.starts_with(PROFILER_STEP))
            .or_else(|| OWN_WORDS.iter().find_map(|word| of_name(&|name| is_own(name, word))))
    }

    /// Returns true if at least 1/2 of the allocations from the first step on lie within steps.
    fn hold_most(&self, allocations: &Allocations) -> bool {
        let count = |from: u32, to: u32| (allocations.born_by(to) - allocations.born_by(from)) as usize;
        let within: usize = self.steps.iter().map(|step| count(step.start, step.end)).sum();
        let all = self.steps.first().map_or(0, |first| count(first.start, u32::MAX - 1));
        within * LEAST_ANNOTATED >= all
    }

    fn told_by(device: &Device, allocations: &Allocations, phases: &Phases) -> Option<Self> {
        let updates = phases.updates(device, allocations);
        let updated = updates.windows(2).map(|pair| Step { start: pair[0], end: pair[1] });
        let updated = Self::new(StepSource::Optimizer, updated.collect());
        // Without backward nothing is trained, and what repeats are layers, batches or tokens.
        if updated.is_some() && phases.are_told() || !phases.has_backward() {
            return updated;
        }
        let least = if phases.basis() == PhaseBasis::Functions { LEAST_WITHOUT_UPDATES } else { 2 };
        let steps = period::steps(device, allocations);
        let is_step = steps.len() >= least && trains(&steps, phases);
        let repeated = Self::new(StepSource::Period, steps).filter(|_| is_step);
        // The coarsest repetition is the step.
        [repeated, updated].into_iter().flatten().min_by_key(|found| found.steps.len())
    }

    /// Joins the steps of several optimizers that take turns, such as those of a GAN, so that the one that takes most
    /// counts.
    ///
    /// An update at a later line belongs to the step before it. Loops that take turns are no optimizers of one step: in
    /// these, the updates of both lines repeat.
    fn of_several_optimizers(mut self, trace: &Trace, device: &Device, phases: &Phases, sites: &Sites) -> Self {
        let places: Vec<SpineId> =
            self.steps.iter().map(|&step| place_of_update(step, device, phases, sites)).collect();
        if places.contains(&SpineId::NONE) {
            return self;
        }
        let orders: Vec<Ordering> = places.windows(2).map(|pair| sites.order(trace, pair[0], pair[1])).collect();
        let of = |order: Ordering| places.windows(2).zip(&orders).filter(move |(_, other)| **other == order);
        let repeats = |place: SpineId| of(Ordering::Equal).any(|(pair, _)| pair[0] == place);
        let are_loops = || of(Ordering::Less).any(|(pair, _)| repeats(pair[0]) && repeats(pair[1]));
        if of(Ordering::Greater).next().is_none() || of(Ordering::Less).next().is_none() || are_loops() {
            return self;
        }
        let mut joined: Vec<Step> = Vec::new();
        for (index, &step) in self.steps.iter().enumerate() {
            match joined.last_mut() {
                Some(last) if orders[index - 1] == Ordering::Less => last.end = step.end,
                _ => joined.push(step),
            }
        }
        if joined.len() > 1 {
            self.steps = joined;
        }
        self
    }

    /// Returns the position of the step that contains the event ending at a moment.
    pub fn of_moment(&self, moment: u32) -> Option<usize> {
        let index = self.steps.partition_point(|step| step.end < moment);
        self.steps.get(index).is_some_and(|step| step.contains(moment)).then_some(index)
    }
}

/// Returns the spans whose names pass a test.
fn named(trace: &Trace, spans: &[Span], is_named: impl Fn(&str) -> bool) -> Vec<Span> {
    spans.iter().filter(|span| is_named(trace.strings.get(span.name))).copied().collect()
}

/// Returns true if at most two steps compute no gradients; the first and the last one may be cut off.
fn trains(steps: &[Step], phases: &Phases) -> bool {
    let mut starts = 0;
    let runs = phases.runs().iter().map(|&(end, phase)| (std::mem::replace(&mut starts, end), end, phase));
    let backwards: Vec<(u32, u32)> = runs.filter(|run| run.2 == Phase::Backward).map(|run| (run.0, run.1)).collect();
    let has_backward = |step: &&Step| {
        let index = backwards.partition_point(|run| run.1 <= step.start);
        backwards.get(index).is_some_and(|run| run.0 < step.end)
    };
    steps.iter().filter(has_backward).count() + 2 >= steps.len()
}

/// Returns the place where the program last updates weights in a step, or else calls backward; `NONE` without frames.
fn place_of_update(step: Step, device: &Device, phases: &Phases, sites: &Sites) -> SpineId {
    let events = &device.events;
    let allocs = (step.start..step.end).filter(|&event| events.actions().at(event as usize) == Action::Alloc);
    let mut place = (false, SpineId::NONE);
    for event in allocs {
        let stack = events.stacks().at(event as usize);
        let phase = phases.of_stack(stack);
        let is_update = phase == Phase::Optimizer;
        let spine = sites.of_stack(stack).spine;
        if spine != SpineId::NONE && (is_update || phase == Phase::Backward && !place.0) {
            place = (is_update, spine);
        }
    }
    place.1
}

/// Returns true if a name contains the word, except for names of optimizers and data loaders.
fn is_own(name: &str, word: &str) -> bool {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    // A data loader's `enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__` reads a batch.
    let is_other = stem.starts_with(OPTIMIZER_STEP) || stem.contains("opt") || stem.contains("DataLoader");
    !is_other && stem.to_ascii_lowercase().contains(word)
}

/// Converts spans to steps, without those that overlap the step before.
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

/// Returns the steps that end with these spans.
///
/// The first step begins at `begin`, or at 0 if `begin` is not before its end.
/// Consecutive spans that overlap or touch are one update, as of two optimizers.
fn ended_by(spans: &[Span], begin: u32) -> Vec<Step> {
    let mut ends: Vec<u32> = Vec::new();
    for span in spans {
        match ends.last_mut() {
            Some(last) if span.start_moment <= *last => *last = (*last).max(span.end_moment),
            _ => ends.push(span.end_moment),
        }
    }
    let first = ends.first().copied().unwrap_or(0);
    let starts = std::iter::once(if begin < first { begin } else { 0 }).chain(ends.iter().copied());
    starts.zip(&ends).map(|(start, &end)| Step { start, end }).filter(|step| step.start < step.end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::naive::Random;
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

    /// Returns six events at 10, 20 … 60 µs, with annotations.
    fn events(annotations: &[&str]) -> String {
        let events: String = (1..7).map(|index| format!("alloc a{index} 8 t={}0\n", index)).collect();
        events + &annotations.join("\n")
    }

    #[test]
    fn annotations_tell_steps() {
        // The profiler's steps come first.
        let annotations = [
            "start ProfilerStep#1 t=15",
            "start Optimizer.step#Adam.step t=25",
            "end Optimizer.step#Adam.step t=35",
            "end ProfilerStep#1 t=35",
            "start ProfilerStep#2 t=35",
            "end ProfilerStep#2 t=55",
        ];
        check(&events(&annotations), Some((StepSource::Annotations, &["1..3", "3..5"])));
        // Names of the user's own may tell steps.
        let annotations = ["start iter_1 t=15", "end iter_1 t=35", "start iter_2 t=35", "end iter_2 t=55"];
        check(&events(&annotations), Some((StepSource::Annotations, &["1..3", "3..5"])));
        // A step of the optimizer ends a step.
        let annotations = [
            "start Optimizer.step#Adam.step t=15",
            "end Optimizer.step#Adam.step t=25",
            "start Optimizer.step#Adam.step t=45",
            "end Optimizer.step#Adam.step t=55",
        ];
        check(&events(&annotations), Some((StepSource::Optimizer, &["0..2", "2..5"])));
        // Steps that hold little are none.
        let annotations = ["start step_1 t=11", "end step_1 t=12", "start step_2 t=59", "end step_2 t=60"];
        check(&events(&annotations), None);
    }

    #[test]
    fn a_loaders_annotations_are_no_steps() {
        let name = |index: usize| format!("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__{index}");
        let annotations: Vec<String> = (0..3)
            .flat_map(|index| {
                let us = 10 + index * 20;
                [format!("start {} t={us}", name(index)), format!("end {} t={}", name(index), us + 5)]
            })
            .collect();
        check(&events(&annotations.iter().map(String::as_str).collect::<Vec<_>>()), None);
    }

    #[test]
    fn the_optimizer_that_takes_most_counts() {
        let module = "_call_impl@torch/nn/modules/module.py";
        let half = |name: &str, line: usize| {
            format!(
                "alloc a{name} 1MiB @{module}<main\nalloc g{name} 1MiB @backward@torch/_tensor.py<main\nfree a{name}\n\
                 alloc s{name} 8 @step@torch/optim/adam.py<main:{line}\nfree s{name}\nfree g{name}\n"
            )
        };
        // Updates of a critic and of a generator in a round, and the steps that three rounds are.
        for (critic, generator, expected) in [(1, 1, 3), (3, 1, 9), (5, 1, 15), (1, 2, 6), (2, 3, 15)] {
            let halves = |line: usize, count: usize, round: usize| -> String {
                (0..count).map(|index| half(&format!("{line}.{round}.{index}"), line)).collect()
            };
            let source: String =
                (0..3).map(|round| halves(40, critic, round) + &halves(50, generator, round)).collect();
            let trace = text::parse(&source).unwrap();
            let found = Steps::find(&trace, &trace.devices[0], &Allocations::pair(&trace.devices[0])).unwrap();
            assert_eq!(found.steps.len(), expected, "{critic} and {generator}");
        }
    }

    #[test]
    fn a_moment_is_part_of_the_step_that_its_event_is_in() {
        let steps = [Step { start: 1, end: 3 }, Step { start: 4, end: 6 }].to_vec();
        let steps = Steps { source: StepSource::Period, steps };
        let found: Vec<Option<usize>> = (0..8).map(|moment| steps.of_moment(moment)).collect();
        assert_eq!(found, [None, None, Some(0), Some(0), None, Some(1), Some(1), None]);
    }

    /// Returns a step that allocates three layers and frees them again.
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

    #[test]
    fn layers_within_the_call_of_a_model_are_no_steps() {
        let layer = |index: usize| {
            let call = "forward@model.py<_call_impl@torch/nn/modules/module.py<main@run.py";
            format!(
                "alloc x.{index} 8KiB @{call}\nalloc y.{index} 4KiB @mul@model.py<{call}\nfree x.{index}\nfree y.{index}\n"
            )
        };
        let source: String = (0..6).map(layer).collect();
        check(&source, None);
    }

    /// Returns a training of random shape whose only frames are operations, and the moments at which its steps end.
    fn random_training(seed: u64) -> (String, Vec<u32>) {
        let mut random = Random::new(seed);
        let (layers, passes, steps) = (4 + random.below(5), 1 + random.below(3), 2 + random.below(4));
        let (copies, clears) = (random.below(2) == 0, random.below(3) > 0);
        let mut lines: Vec<String> =
            (0..layers).map(|layer| format!("alloc w{layer} {}KiB @aten::empty@operator", 9 + layer)).collect();
        let mut ends = vec![layers as u32];
        for step in 0..steps {
            for pass in 0..passes {
                let name = format!("{step}.{pass}");
                lines.extend((0..layers).map(|layer| format!("alloc a{layer}.{name} 64KiB @aten::mm@operator")));
                lines.push(format!("alloc l.{name} 4 @aten::nll_loss@operator"));
                for layer in (0..layers).rev() {
                    let is_first = pass == 0 && (clears || step == 0);
                    lines.extend(
                        is_first.then(|| format!("alloc g{layer}.{step} {}KiB @MmBackward0@operator", 9 + layer)),
                    );
                    lines.push(format!("alloc d{layer}.{name} 32KiB @MmBackward0@operator"));
                    lines.extend([format!("free a{layer}.{name}"), format!("free d{layer}.{name}")]);
                }
                lines.push(format!("free l.{name}"));
            }
            // Without copies of weights, and with gradients that remain, nothing would distinguish a step from a pass.
            if copies || !clears {
                lines.extend(
                    (0..layers)
                        .map(|layer| format!("alloc c{layer}.{step} {}KiB @aten::_foreach_sqrt@operator", 9 + layer)),
                );
                lines.extend((0..layers).map(|layer| format!("free c{layer}.{step}")));
            }
            lines.extend((0..layers).filter(|_| clears).map(|layer| format!("free g{layer}.{step}")));
            // A free is two events.
            ends.push(lines.iter().map(|line| if line.starts_with("free") { 2 } else { 1 }).sum());
        }
        (lines.join("\n"), ends)
    }

    #[test]
    fn updates_end_the_steps_of_random_trainings() {
        for seed in 0..60 {
            let (source, ends) = random_training(seed);
            let trace = text::parse(&source).unwrap();
            let device = &trace.devices[0];
            let found = Steps::find(&trace, device, &Allocations::pair(device)).unwrap();
            assert_eq!(found.source, StepSource::Optimizer, "seed {seed}");
            let expected: Vec<Step> = ends.windows(2).map(|pair| Step { start: pair[0], end: pair[1] }).collect();
            assert_eq!(found.steps, expected, "seed {seed}: {source}");
        }
    }
}
