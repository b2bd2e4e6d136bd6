//! Call stacks as people read them.

use shared::analysis::place;
use shared::base::{StringTable, frame_rules};
use shared::trace::{Frame, StackId, Trace};

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
