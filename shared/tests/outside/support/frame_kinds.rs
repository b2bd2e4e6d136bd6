//! Kinds of the frames of a stack, which a sanitized copy keeps.

use shared::base::{frame_rules, stack_label};
use shared::trace::{Frame, StackId, Trace};

/// Returns whether each frame belongs to the runtime, and the position of the title frame.
pub(crate) fn kinds(trace: &Trace, stack: StackId) -> (Vec<bool>, Option<usize>) {
    let frames: Vec<&Frame> = trace.stacks.frames(stack).iter().map(|&id| trace.frames.get(id)).collect();
    let texts = frames.iter().map(|frame| (trace.strings.get(frame.name), trace.strings.get(frame.filename)));
    let kinds = texts.clone().map(|(_, filename)| frame_rules::is_runtime(filename)).collect();
    (kinds, stack_label::automatic_position(texts))
}
