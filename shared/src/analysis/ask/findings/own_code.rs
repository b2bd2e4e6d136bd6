//! Finds the line of the user's own code that most of some bytes come from, and the phase and the stack of one allocation.

use super::finding::SourceLine;
use crate::analysis::study::phases::Phase;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::AllocationId;
use crate::analysis::track::stack_title::own_frame;
use crate::trace::{Action, FrameId, StackId, Trace};
use hashbrown::HashMap;
use std::cmp::Reverse;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    /// The one that calls the model, backward or the optimizer.
    Call,
    Innermost,
}

/// Returns the line from which at least half of the bytes come, or `None` if there is no such line.
pub(super) fn own_line(
    study: &Study<'_>,
    rows: impl IntoIterator<Item = (u64, StackId)>,
    own: Own,
) -> Option<SourceLine> {
    let mut all = 0_u64;
    let mut by_stack: HashMap<StackId, u64> = HashMap::new();
    for (bytes, stack) in rows {
        all = all.saturating_add(bytes);
        let sum = by_stack.entry(stack).or_default();
        *sum = sum.saturating_add(bytes);
    }
    let lines = by_stack.into_iter().filter_map(|(stack, bytes)| Some((line_of(study, stack, own)?, bytes)));
    largest(lines).filter(|&(_, bytes)| bytes > 0 && bytes.saturating_mul(2) >= all).map(|(line, _)| line)
}

/// Returns the line from which all stacks come, such as that of a loop.
pub(super) fn common_line(study: &Study<'_>, mut stacks: impl Iterator<Item = StackId>) -> Option<SourceLine> {
    let frames = |stack| study.trace.stacks.frames(stack).iter().rev();
    let first: Vec<FrameId> = frames(stacks.next()?).copied().collect();
    let shared = |stack| first.iter().zip(frames(stack)).take_while(|(one, other)| one == other).count();
    let common = &first[..stacks.map(shared).fold(first.len(), usize::min)];
    let own = common.iter().rev().find(|&&frame| study.trace.frame_kind(frame).is_own)?;
    Some(line_at(study, *own))
}

/// Returns the line with the most bytes and their sum, of equal ones the first in order.
pub(super) fn largest(rows: impl Iterator<Item = (SourceLine, u64)>) -> Option<(SourceLine, u64)> {
    let mut by_line: HashMap<SourceLine, u64> = HashMap::new();
    for (line, bytes) in rows {
        let sum = by_line.entry(line).or_default();
        *sum = sum.saturating_add(bytes);
    }
    by_line.into_iter().max_by(|one, other| (one.1, Reverse(&one.0)).cmp(&(other.1, Reverse(&other.0))))
}

pub(super) fn line_of_backward(study: &Study<'_>) -> Option<SourceLine> {
    let (actions, stacks) = (study.device.events.actions(), study.device.events.stacks());
    let mut is_known = vec![false; study.trace.stacks.len()];
    let allocs = (0..study.device.events.len()).rev().filter(|&event| actions.at(event) == Action::Alloc);
    let mut calls = allocs.map(|event| stacks.at(event)).filter(|stack| {
        let is_new = !std::mem::replace(&mut is_known[stack.index()], true);
        is_new && study.phases.of_stack(*stack) == Phase::Backward
    });
    calls.find_map(|stack| line_of(study, stack, Own::Call))
}

pub(super) fn line_of(study: &Study<'_>, stack: StackId, own: Own) -> Option<SourceLine> {
    Some(line_at(study, own_frame(study.trace, stack, own == Own::Call)?))
}

fn line_at(study: &Study<'_>, frame: FrameId) -> SourceLine {
    let frame = study.trace.frames.get(frame);
    let text = |id| study.trace.strings.get(id).to_owned();
    SourceLine { file: text(frame.filename), function: text(frame.name), line: frame.line }
}

/// Iterates over the names and files of a stack's frames, innermost first.
pub(super) fn texts_of(trace: &Trace, stack: StackId) -> impl Iterator<Item = (&str, &str)> {
    let frames = trace.stacks.frames(stack).iter().map(|&frame| trace.frames.get(frame));
    frames.map(|frame| (trace.strings.get(frame.name), trace.strings.get(frame.filename)))
}

pub(super) fn row_of(study: &Study<'_>, id: AllocationId) -> (u64, StackId) {
    let allocations = &study.timeline.allocations;
    (allocations.size_bytes(id), allocations.allocation_stack(id, study.device))
}

pub(super) fn phase_of(study: &Study<'_>, id: AllocationId) -> Phase {
    study.phases.of_birth(study.timeline.allocations.born_at(id.0), row_of(study, id).1)
}
