//! Call stacks as people read them.

use shared::analysis::{place, stack_title};
use shared::base::{StringTable, frame_rules};
use shared::trace::{Frame, StackId, Trace};

/// What a stack is about: the innermost frame of the program, with its place.
pub(super) fn title(trace: &Trace, stack: StackId) -> String {
    stack_title(trace, stack).unwrap_or_else(|| "no stack recorded".to_owned())
}

/// What a recorded stack's module called; `None` for stacks that our recorder did not make, and where nothing is known.
pub(super) fn recorded_operation(trace: &Trace, stack: StackId) -> Option<String> {
    let operators = frames(trace, stack).map(|frame| names(&trace.strings, frame));
    let called = operators.take_while(|(_, filename)| *filename == frame_rules::RECORDED_OPERATOR);
    called.last().map(|(name, _)| name.to_owned())
}

/// The frames of the program, innermost first; those of the machinery under it are left out.
pub(super) fn program_frames(trace: &Trace, stack: StackId) -> Vec<String> {
    let texts = frames(trace, stack).map(|frame| (names(&trace.strings, frame), frame.line));
    let of_program = texts.filter(|((_, filename), _)| !frame_rules::is_runtime(filename));
    of_program.map(|((name, filename), line)| place(name, filename, line)).collect()
}

/// The frames of a stack, innermost first.
pub(super) fn frames(trace: &Trace, stack: StackId) -> impl Iterator<Item = &Frame> {
    trace.stacks.frames(stack).iter().map(|&id| trace.frames.get(id))
}

/// Name and file of a frame.
fn names<'a>(strings: &'a StringTable, frame: &Frame) -> (&'a str, &'a str) {
    (strings.get(frame.name), strings.get(frame.filename))
}
