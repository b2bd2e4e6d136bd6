//! Finds the line of the user's own code that most of some bytes come from.

use super::finding::SourceLine;
use crate::analysis::study::phases::Phase;
use crate::analysis::study::studied::Study;
use crate::analysis::track::stack_title::own_frame;
use crate::trace::{Action, StackId};
use hashbrown::HashMap;

/// Frame of the user's own code that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    /// The one that calls the model, backward or the optimizer.
    Call,
    Innermost,
}

/// Place in the user's own code.
pub(super) struct OwnCode {
    /// Line that at least half of the bytes come from.
    pub(super) line: SourceLine,
}

impl OwnCode {
    /// Returns the line from which at least half of the bytes come, or `None` if there is no such line.
    pub(super) fn of(study: &Study<'_>, rows: impl Iterator<Item = (u64, StackId)>, own: Own) -> Option<Self> {
        let mut all = 0_u64;
        let mut by_stack: HashMap<StackId, u64> = HashMap::new();
        for (bytes, stack) in rows {
            all = all.saturating_add(bytes);
            let sum = by_stack.entry(stack).or_default();
            *sum = sum.saturating_add(bytes);
        }
        let mut by_line: HashMap<SourceLine, u64> = HashMap::new();
        for (stack, bytes) in by_stack {
            if let Some(line) = line_of(study, stack, own) {
                let sum = by_line.entry(line).or_default();
                *sum = sum.saturating_add(bytes);
            }
        }
        let largest =
            |one: &(SourceLine, u64), other: &(SourceLine, u64)| one.1.cmp(&other.1).then(other.0.cmp(&one.0));
        let (line, bytes) = by_line.into_iter().max_by(largest)?;
        (bytes > 0 && bytes.saturating_mul(2) >= all).then_some(Self { line })
    }

    /// Returns the line that calls backward last.
    pub(super) fn of_backward(study: &Study<'_>) -> Option<Self> {
        let (actions, stacks) = (study.device.events.actions(), study.device.events.stacks());
        let mut is_known = vec![false; study.trace.stacks.len()];
        let allocs = (0..study.device.events.len()).rev().filter(|&event| actions.at(event) == Action::Alloc);
        let mut calls = allocs.map(|event| stacks.at(event)).filter(|stack| {
            let is_new = !std::mem::replace(&mut is_known[stack.index()], true);
            is_new && study.phases.of_stack(*stack) == Phase::Backward
        });
        let line = calls.find_map(|stack| line_of(study, stack, Own::Call))?;
        Some(Self { line })
    }

    /// Formats the line like `train (train.py:88)`.
    pub(super) fn place(&self) -> String {
        self.line.place()
    }
}

/// Returns the user's own line of one stack.
pub(super) fn line_of(study: &Study<'_>, stack: StackId, own: Own) -> Option<SourceLine> {
    let frame = study.trace.frames.get(own_frame(study.trace, stack, own == Own::Call)?);
    let text = |id| study.trace.strings.get(id).to_owned();
    Some(SourceLine { file: text(frame.filename), function: text(frame.name), line: frame.line })
}
