//! Finds the line of the user's own code that most of some bytes come from, and the phase and the stack of one allocation.

use super::finding::SourceLine;
use crate::analysis::study::period::Step;
use crate::analysis::study::phases::Phase;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::AllocationId;
use crate::analysis::track::stack_title::own_frame;
use crate::trace::{Action, FrameId, StackId, Trace};
use hashbrown::HashMap;
use std::cmp::Reverse;

/// Nearly all is 9 times as much as the rest.
const NEARLY_ALL: u64 = 9;

/// A call must compute at least 1/2 as much outside of one of its parts.
const LEAST_ELSEWHERE: u64 = 2;

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
    let first: Vec<FrameId> = frames(study, stacks.next()?).collect();
    let shared = |stack| first.iter().zip(frames(study, stack)).take_while(|&(&one, other)| one == other).count();
    let common = &first[..stacks.map(shared).fold(first.len(), usize::min)];
    let own = common.iter().rev().find(|&&frame| study.trace.frame_kind(frame).is_own)?;
    Some(line_at(study, *own))
}

/// Iterates over the frames of a stack, outermost first.
fn frames<'a>(study: &Study<'a>, stack: StackId) -> impl Iterator<Item = FrameId> + use<'a> {
    study.trace.stacks.frames(stack).iter().rev().copied()
}

/// Returns the line within a model from which nearly all of a call's rows come, if the call also computes much
/// elsewhere: a part of it, such as a second encoder. Otherwise returns the line that calls the model, like [`own_line`].
pub(super) fn line_of_part(
    study: &Study<'_>,
    rows: impl Iterator<Item = (u64, StackId)> + Clone,
) -> Option<SourceLine> {
    let call = own_line(study, rows.clone(), Own::Call)?;
    let is_of_call = |row: &(u64, StackId)| line_of(study, row.1, Own::Call).is_some_and(|line| line == call);
    let rows: Vec<(u64, StackId)> = rows.filter(is_of_call).collect();
    let path: Vec<FrameId> = frames(study, rows.iter().max()?.1).collect();
    let step = study.repeats().get(study.repeats().len() / 2).copied().unwrap_or(Step { start: 0, end: 0 });
    let events = &study.device.events;
    let mut computed: HashMap<StackId, u64> = HashMap::new();
    for event in (step.start as usize..step.end as usize).filter(|&event| events.actions().at(event) == Action::Alloc) {
        let kib = computed.entry(events.stacks().at(event)).or_default();
        *kib = kib.saturating_add(events.sizes_bytes().at(event) >> 10);
    }
    let computed: Vec<(u64, StackId)> =
        computed.into_iter().map(|(stack, kib)| (kib, stack)).filter(is_of_call).collect();
    // Sums up what comes through the first frames of the path, and what does not.
    let sums = |rows: &[(u64, StackId)], count: usize| {
        let is_within = |stack| frames(study, stack).take(count).eq(path[..count].iter().copied());
        rows.iter().fold((0_u64, 0_u64), |(within, elsewhere), &(size, stack)| match is_within(stack) {
            true => (within.saturating_add(size), elsewhere),
            false => (within, elsewhere.saturating_add(size)),
        })
    };
    let is_part = |&frame: &usize| {
        let ((kept, others), (within, elsewhere)) = (sums(&rows, frame + 1), sums(&computed, frame + 1));
        let is_all = kept >= others.saturating_mul(NEARLY_ALL);
        study.trace.frame_kind(path[frame]).is_own
            && is_all
            && within > 0
            && elsewhere.saturating_mul(LEAST_ELSEWHERE) >= within
    };
    let below = path.iter().position(|&frame| line_at(study, frame) == call)? + 1;
    let part = (below..path.len()).find(is_part);
    Some(part.map_or(call, |frame| line_at(study, path[frame])))
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
