//! Phases by the operations of PyTorch, where no function of the program tells them.
//!
//! Idea: nodes of backward are named so, and optimizers have kernels of their own; what lies between them is told by
//! its neighbours and by its length, since each forward allocates as often as the others.
//!
//! ```text
//! allocations   s s s d f f f f B B f B B o O O O d f f f f B B f B B o O O
//! signs         . . . . . . . . B B . B B . O O O . . . . . B B . B B . O O
//! phases        setup d forward  B  re B  optimizer d forward …
//! ```
//!
//! Cost: linear in the allocations.

use super::Phase;
use crate::analysis::Allocations;
use crate::base::frame_rules;
use crate::trace::{Device, StackId, Trace};

/// What an allocation's operation says by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// A node of backward.
    Backward,
    /// A kernel that only optimizers have.
    Optimizer,
    /// An operation like any other.
    Plain,
    /// An operation that makes or moves tensors, as models are built and batches are brought.
    Making,
}

/// Kernels of optimizers by the start of their names.
const OPTIMIZER_KERNELS: [&str; 5] = ["_foreach_", "_fused_ad", "_fused_sgd", "addcdiv", "addcmul"];

/// Operations that make tensors or move them.
const MAKING: [&str; 13] = [
    "clone",
    "empty",
    "zeros",
    "ones",
    "full",
    "rand",
    "normal",
    "uniform",
    "to",
    "_to_copy",
    "copy_",
    "arange",
    "flatten_dense",
];

/// After so many allocations that do not stay, the model is built.
const MOST_BESIDE_SETUP: usize = 16;

/// How many operations a batch takes to come to the device.
const MOST_OF_DATA: usize = 2;

/// The sign of each stack that has an operation, by the stack's index.
pub(super) fn signs(trace: &Trace, of_stacks: &[Phase]) -> Vec<Option<Sign>> {
    let mut signs = vec![None; trace.stacks.len()];
    for id in trace.stacks.ids() {
        signs[id.index()] = match of_stacks[id.index()] {
            Phase::Backward => Some(Sign::Backward),
            Phase::Optimizer => Some(Sign::Optimizer),
            _ => sign(trace, id),
        };
    }
    signs
}

fn sign(trace: &Trace, id: StackId) -> Option<Sign> {
    let mut outermost = None;
    for &frame in trace.stacks.frames(id) {
        let frame = trace.frames.get(frame);
        let name = trace.strings.get(frame.name);
        let is_recorded = trace.strings.get(frame.filename) == frame_rules::RECORDED_OPERATOR;
        let operation = if is_recorded { Some(name.to_owned()) } else { frame_rules::operation(name) };
        let Some(operation) = operation else { continue };
        if operation.contains("Backward") || operation.contains("post_backward") || operation.contains("autograd::") {
            return Some(Sign::Backward);
        }
        let kernel = operation.strip_prefix("aten::").unwrap_or(&operation).to_owned();
        if OPTIMIZER_KERNELS.iter().any(|known| kernel.starts_with(known)) {
            return Some(Sign::Optimizer);
        }
        outermost = Some(kernel);
    }
    let is_making = |kernel: &String| MAKING.iter().any(|known| kernel.starts_with(known));
    outermost.map(|kernel| if is_making(&kernel) { Sign::Making } else { Sign::Plain })
}

/// A run of allocations of one kind: backward, optimizer, or neither.
#[derive(Clone, Copy, Debug)]
struct Segment {
    sign: Sign,
    /// Positions in the list of allocations.
    first: usize,
    end: usize,
}

impl Segment {
    fn len(&self) -> usize {
        self.end - self.first
    }
}

/// The runs of phases of a device's allocations.
pub(super) fn runs(
    allocs: &[usize],
    device: &Device,
    allocations: &Allocations,
    signs: &[Option<Sign>],
) -> Vec<(u32, Phase)> {
    let sign = |event: usize| signs[device.events.stacks().at(event).index()].unwrap_or(Sign::Making);
    let segments = segments(allocs.iter().map(|&event| sign(event)));
    let setup = setup_len(allocs, allocations, &segments, sign);
    let pass = pass_len(&segments, setup);
    let mut phases = vec![Phase::Unknown; allocs.len()];
    let mut evaluates = false;
    for (index, segment) in segments.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| segments[index].sign);
        let after = segments.get(index + 1).map(|segment| segment.sign);
        let within = &mut phases[segment.first..segment.end];
        match segment.sign {
            Sign::Backward => within.fill(Phase::Backward),
            Sign::Optimizer => within.fill(Phase::Optimizer),
            Sign::Plain | Sign::Making => {
                let plain = |&event: &usize| sign(event) == Sign::Plain;
                let others = segment.len().saturating_sub(pass.max(1));
                let computed =
                    allocs[segment.first..segment.first + others].iter().filter(|event| plain(event)).count();
                let is_for_next = || {
                    let next = segments.get(index + 2).map_or(device.events.len(), |segment| allocs[segment.first]);
                    goes_by(&allocs[segment.first..segment.end], allocs[segment.end] as u32, next as u32, allocations)
                };
                let is_short = segment.len() * 2 < pass && before == after && before == Some(Sign::Backward);
                let surroundings = Surroundings {
                    before,
                    after,
                    pass,
                    setup,
                    others,
                    evaluates: computed * 2 >= pass,
                    recomputes: is_short && is_for_next(),
                };
                evaluates |= before == Some(Sign::Optimizer) && after.is_some() && surroundings.evaluates;
                surroundings.fill(within, evaluates);
            }
        }
    }
    mark_data(&mut phases, |position| sign(allocs[position]) == Sign::Making);
    joined(allocs, &phases, device.events.len() as u32)
}

/// Runs of allocations with the same sign, the plain ones and those that make tensors being one kind.
fn segments(signs: impl Iterator<Item = Sign>) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for (position, sign) in signs.enumerate() {
        let sign = if sign == Sign::Making { Sign::Plain } else { sign };
        match segments.last_mut().filter(|last| last.sign == sign) {
            Some(last) => last.end = position + 1,
            None => segments.push(Segment { sign, first: position, end: position + 1 }),
        }
    }
    segments
}

/// How many allocations build the model: up to the last one that makes a tensor and stays.
///
/// A batch is gone when the last backward begins, what forward makes as well.
fn setup_len(allocs: &[usize], allocations: &Allocations, segments: &[Segment], sign: impl Fn(usize) -> Sign) -> usize {
    let Some(head) = segments.first().filter(|head| head.sign == Sign::Plain) else { return 0 };
    let last_backward = segments.iter().rfind(|segment| segment.sign == Sign::Backward);
    let end = last_backward.map_or(u32::MAX - 1, |segment| allocs[segment.first] as u32);
    let stays = |event: usize| allocations.of_event(event).is_some_and(|id| allocations.died[id.index()] > end);
    let mut len = 0;
    for (position, &event) in allocs[..head.end].iter().enumerate() {
        if sign(event) == Sign::Making && stays(event) {
            len = position + 1;
        }
        if position + 1 >= len + MOST_BESIDE_SETUP {
            break;
        }
    }
    len
}

/// How often a forward pass allocates: as the first one does, or the shortest of those before a backward.
fn pass_len(segments: &[Segment], setup: usize) -> usize {
    let head = segments.first().filter(|head| head.sign == Sign::Plain).map_or(0, |head| head.len() - setup);
    let before_backward = segments.windows(3).filter(|three| {
        three[0].sign == Sign::Optimizer && three[1].sign == Sign::Plain && three[2].sign == Sign::Backward
    });
    let shortest = before_backward.map(|three| three[1].len()).min();
    match shortest {
        // A trace may begin in the middle of a pass.
        Some(shortest) if setup == 0 || head > shortest => shortest,
        _ => head,
    }
}

/// Whether most of what is there after allocations is gone when the backward that follows is over.
///
/// What a layer computes again is used at once; a pipeline makes the forward pass of one batch within the backward of
/// another, and uses it later.
fn goes_by(allocs: &[usize], start: u32, end: u32, allocations: &Allocations) -> bool {
    let (mut left, mut gone) = (0_u64, 0_u64);
    for id in allocs.iter().filter_map(|&event| allocations.of_event(event)) {
        let (size_bytes, died) = (allocations.size_bytes[id.index()], allocations.died[id.index()]);
        if died > start {
            left = left.saturating_add(size_bytes);
            gone = gone.saturating_add(if died <= end { size_bytes } else { 0 });
        }
    }
    gone >= left / 4
}

/// What the phases of plain allocations are told by.
struct Surroundings {
    before: Option<Sign>,
    after: Option<Sign>,
    /// How often a forward pass allocates.
    pass: usize,
    /// How many allocations build the model.
    setup: usize,
    /// How many allocations come before the last pass.
    others: usize,
    /// Whether these compute as much as a pass does: then they are one that has no backward.
    evaluates: bool,
    /// Whether all of it is for the backward around it.
    recomputes: bool,
}

impl Surroundings {
    /// Fills in the phases; `evaluated` is whether an evaluation was seen so far.
    fn fill(&self, within: &mut [Phase], evaluated: bool) {
        let len = within.len();
        let (others, last_pass) = within.split_at_mut(self.others.min(len));
        match (self.before, self.after) {
            (None, _) => {
                let (setup, pass) = within.split_at_mut(self.setup.min(len));
                setup.fill(Phase::Setup);
                pass.fill(Phase::Forward);
            }
            (Some(Sign::Backward), Some(Sign::Backward)) if self.recomputes => within.fill(Phase::Recompute),
            (Some(_), Some(Sign::Backward)) => {
                // Optimizers with kernels of their own come before; those without are the first part.
                others.fill(if self.evaluates { Phase::Evaluation } else { Phase::Optimizer });
                last_pass.fill(Phase::Forward);
            }
            (Some(_), None) if len * 2 >= self.pass => {
                within.fill(if evaluated { Phase::Evaluation } else { Phase::Forward });
            }
            _ => within.fill(Phase::Optimizer),
        }
    }
}

/// Marks the allocations that bring a batch: the first of a pass, where they make tensors.
fn mark_data(phases: &mut [Phase], is_making: impl Fn(usize) -> bool) {
    for position in 0..phases.len() {
        let is_first = phases[position] == Phase::Forward && (position == 0 || phases[position - 1] != Phase::Forward);
        if is_first && (position == 0 || phases[position - 1] != Phase::Data) {
            let end = (position + MOST_OF_DATA).min(phases.len());
            let data = (position..end).take_while(|&at| phases[at] == Phase::Forward && is_making(at)).count();
            phases[position..position + data].fill(Phase::Data);
        }
    }
}

/// Phases of allocations as runs of moments.
fn joined(allocs: &[usize], phases: &[Phase], events: u32) -> Vec<(u32, Phase)> {
    let mut runs: Vec<(u32, Phase)> = Vec::new();
    for (&event, &phase) in allocs.iter().zip(phases) {
        let moment = event as u32 + 1;
        match runs.last_mut() {
            Some(last) if last.1 == phase => last.0 = moment,
            Some(last) => {
                last.0 = moment - 1;
                runs.push((moment, phase));
            }
            None => runs.push((moment, phase)),
        }
    }
    if let Some(last) = runs.last_mut() {
        last.0 = events;
    }
    runs
}

#[cfg(test)]
mod tests {
    use crate::analysis::{PhaseBasis, Phases, Timeline};
    use crate::trace::text;

    /// Checks the phases of a trace drawn as operations, written as the first letter of each allocation's.
    ///
    /// A word is an allocation of that operation; with `!` it stays, with `~` the next node of backward frees it, else
    /// the optimizer does.
    #[track_caller]
    fn check(operations: &str, expected: &str) {
        let mut source = String::new();
        let (mut open, mut passing): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for (index, word) in operations.split_whitespace().enumerate() {
            let operation = word.trim_end_matches(['!', '~']);
            source += &format!("alloc n{index} 512 @{operation}@operator\n");
            if operation == "MmBackward0" {
                passing.drain(..).for_each(|index| source += &format!("free n{index}\n"));
            }
            match word.chars().last() {
                Some('!') => {}
                Some('~') => passing.push(index),
                _ => open.push(index),
            }
            if operation == "aten::_foreach_sqrt" {
                open.drain(..).for_each(|index| source += &format!("free n{index}\n"));
            }
        }
        let trace = text::parse(&source).unwrap();
        let device = &trace.devices[0];
        let allocations = Timeline::new(&trace, device).allocations;
        let phases = Phases::find(&trace, device, &allocations);
        assert_eq!(phases.basis(), PhaseBasis::Operations);
        let letter = |id| format!("{:?}", phases.at(allocations.get(id, device).born)).remove(0);
        assert_eq!(allocations.ids().map(letter).collect::<String>(), expected);
    }

    const PASS: &str = "aten::to aten::embedding aten::mm aten::mm aten::mm aten::nll_loss";
    const BACKWARD: &str = "MmBackward0 MmBackward0";
    const UPDATE: &str = "aten::zeros_like! aten::_foreach_sqrt";

    #[test]
    fn neighbours_tell_what_is_between_them() {
        let setup = "aten::empty! aten::empty!";
        let step = format!("{PASS} {BACKWARD} {UPDATE}");
        check(&format!("{setup} {step} {step}"), "SSDFFFFFBBOODFFFFFBBOO");
    }

    #[test]
    fn short_runs_within_backward_are_recomputed() {
        let step = format!("{PASS} MmBackward0 aten::mm~ MmBackward0 aten::mm~ MmBackward0 {UPDATE}");
        check(&format!("aten::empty! {step} {step}"), "SDFFFFFBRBRBOODFFFFFBRBRBOO");
    }

    #[test]
    fn short_runs_that_outlive_the_next_backward_are_those_of_a_pipeline() {
        let step = format!("{PASS} MmBackward0 aten::mm MmBackward0 aten::mm MmBackward0 {UPDATE}");
        check(&format!("aten::empty! {step} {step}"), "SDFFFFFBFBFBOODFFFFFBFBFBOO");
    }

    #[test]
    fn a_long_run_within_backward_is_the_next_micro_batch() {
        let step = format!("{PASS} {BACKWARD} {PASS} {BACKWARD} {UPDATE}");
        check(&format!("aten::empty! {step} {step}"), "SDFFFFFBBDFFFFFBBOODFFFFFBBDFFFFFBBOO");
    }

    #[test]
    fn a_pass_without_a_backward_is_an_evaluation() {
        let step = format!("{PASS} {BACKWARD} {UPDATE}");
        check(&format!("aten::empty! {step} {PASS} {step} {PASS}"), "SDFFFFFBBOOEEEEEEDFFFFFBBOOEEEEEE");
    }
}
