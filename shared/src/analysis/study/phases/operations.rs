//! Infers phases from the operations of PyTorch, if no function of the program identifies them.
//!
//! Idea: nodes of backward can be recognised by their names, and optimizers have kernels of their own. The phase of
//! what lies between is inferred from its neighbours and its length, because every forward pass allocates equally
//! often.
//!
//! ```text
//! allocations   s s s d f f f f B B f B B o O O O d f f f f B B f B B o O O
//! signs         . . . . . . . . B B . B B . O O O . . . . . B B . B B . O O
//! phases        setup d forward  B  re B  optimizer d forward …
//! ```
//!
//! Cost: linear in the number of allocations.

use super::frames::{Phase, push_run};
use crate::analysis::track::allocations::Allocations;
use crate::base::stack_label;
use crate::trace::{Device, StackId, Trace};

/// Evidence of the operation that made an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Node of backward.
    Backward,
    /// Kernel that only optimizers use.
    Optimizer,
    /// Any other operation.
    Plain,
    /// Operation that creates or moves tensors, as when models are built and batches are moved to the device.
    Making,
}

/// Prefixes of the names of optimizers' kernels.
const OPTIMIZER_KERNELS: [&str; 5] = ["_foreach_", "_fused_ad", "_fused_sgd", "addcdiv", "addcmul"];

/// Prefixes of the names of operations that create or move tensors.
const MAKING: &str = "clone empty zeros ones full rand normal uniform to _to_copy copy_ arange flatten_dense";

/// The model is complete after 16 consecutive allocations without one that creates a tensor and remains.
const MOST_BESIDE_SETUP: usize = 16;

/// Maximum number of operations that move a batch to the device.
const MOST_OF_DATA: usize = 2;

/// Returns the sign of each stack that has an operation, by the stack's index.
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
        let (name, filename, _) = trace.frame_text(frame);
        let Some(operation) = stack_label::operation(name, filename) else { continue };
        if operation.contains("Backward") || operation.contains("post_backward") || operation.contains("autograd::") {
            return Some(Sign::Backward);
        }
        let kernel = operation.strip_prefix("aten::").unwrap_or(&operation).to_owned();
        if OPTIMIZER_KERNELS.iter().any(|known| kernel.starts_with(known)) {
            return Some(Sign::Optimizer);
        }
        outermost = Some(kernel);
    }
    let is_making = |kernel: &String| MAKING.split(' ').any(|known| kernel.starts_with(known));
    outermost.map(|kernel| if is_making(&kernel) { Sign::Making } else { Sign::Plain })
}

/// Run of consecutive allocations of one kind: backward, optimizer, or neither.
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

/// Returns the runs of phases, given the events that allocate and the signs of stacks.
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

/// Divides allocations into runs of the same sign; operations that create tensors count as plain ones.
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

/// Returns the number of allocations that build the model, up to the last one that creates a tensor and remains.
///
/// An allocation remains if it is still alive when the last run of backward begins. By then the first batch and the
/// tensors of the first forward pass have been freed.
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

/// Returns the number of allocations of a forward pass: those of the first pass, or of the shortest one before a
/// backward.
fn pass_len(segments: &[Segment], setup: usize) -> usize {
    let head = segments.first().filter(|head| head.sign == Sign::Plain).map_or(0, |head| head.len() - setup);
    let before_backward = segments.windows(3).filter(|three| {
        three[0].sign == Sign::Optimizer && three[1].sign == Sign::Plain && three[2].sign == Sign::Backward
    });
    let shortest = before_backward.map(|three| three[1].len()).min();
    match shortest {
        // The trace may begin in the middle of a pass.
        Some(shortest) if setup == 0 || head > shortest => shortest,
        _ => head,
    }
}

/// Returns true if at least 1/4 of the bytes that are alive when the next backward begins are freed by its end.
///
/// Recomputed activations are used at once. In a pipeline, however, the forward pass of one batch runs within the
/// backward of another, and its tensors are used later.
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

/// Context from which the phases of a run of plain allocations are inferred.
struct Surroundings {
    before: Option<Sign>,
    after: Option<Sign>,
    /// Number of allocations of a forward pass.
    pass: usize,
    /// Number of allocations that build the model.
    setup: usize,
    /// Number of allocations of the run before its last pass.
    others: usize,
    /// True if at least 1/2 as many of these compute something as a pass has allocations: they are a pass without
    /// backward.
    evaluates: bool,
    /// True if the whole run recomputes activations for the backward around it.
    recomputes: bool,
}

impl Surroundings {
    /// Fills in the phases; `evaluated` is true if an evaluation has been found so far.
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
                // Optimizers with kernels of their own have a run before this one; the updates of others are the first
                // part of it.
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

/// Marks allocations that move a batch to the device: the first ones of a forward pass, if they create tensors.
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

/// Joins the phases of allocations into runs of moments.
fn joined(allocs: &[usize], phases: &[Phase], events: u32) -> Vec<(u32, Phase)> {
    let mut runs: Vec<(u32, Phase)> = Vec::new();
    for (&event, &phase) in allocs.iter().zip(phases) {
        push_run(&mut runs, event as u32 + 1, phase);
    }
    if let Some(last) = runs.last_mut() {
        last.0 = events;
    }
    runs
}

#[cfg(test)]
mod tests {
    use crate::analysis::study::phases::{PhaseBasis, Phases};
    use crate::analysis::track::timeline::Timeline;
    use crate::trace::text;

    /// Checks the phases of a trace given as operations, written as the first letter of each allocation's phase.
    ///
    /// Each word is an allocation by that operation. With `!` it is never freed, with `~` the next node of backward
    /// frees it, and otherwise the optimizer does.
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
    fn operations_tell_phases() {
        // Neighbours tell what is between them.
        let setup = "aten::empty! aten::empty!";
        let step = format!("{PASS} {BACKWARD} {UPDATE}");
        check(&format!("{setup} {step} {step}"), "SSDFFFFFBBOODFFFFFBBOO");
        // Short runs within backward are recomputed.
        let step = format!("{PASS} MmBackward0 aten::mm~ MmBackward0 aten::mm~ MmBackward0 {UPDATE}");
        check(&format!("aten::empty! {step} {step}"), "SDFFFFFBRBRBOODFFFFFBRBRBOO");
        // Short runs that outlive the next backward are those of a pipeline.
        let step = format!("{PASS} MmBackward0 aten::mm MmBackward0 aten::mm MmBackward0 {UPDATE}");
        check(&format!("aten::empty! {step} {step}"), "SDFFFFFBFBFBOODFFFFFBFBFBOO");
        // A long run within backward is the next micro batch.
        let step = format!("{PASS} {BACKWARD} {PASS} {BACKWARD} {UPDATE}");
        check(&format!("aten::empty! {step} {step}"), "SDFFFFFBBDFFFFFBBOODFFFFFBBDFFFFFBBOO");
        // A pass without a backward is an evaluation.
        let step = format!("{PASS} {BACKWARD} {UPDATE}");
        check(&format!("aten::empty! {step} {PASS} {step} {PASS}"), "SDFFFFFBBOOEEEEEEDFFFFFBBOOEEEEEE");
    }
}
