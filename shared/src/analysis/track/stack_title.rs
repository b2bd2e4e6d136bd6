//! Describes call stacks in a few words.

use crate::base::frame_rules;
use crate::trace::{Frame, FrameId, StackId, Trace};

/// Returns the title of a stack: its innermost frame of the program with its place, `None` without frames.
///
/// If no frame belongs to the program, the title is an operation of PyTorch or the innermost Python frame.
pub fn stack_title(trace: &Trace, stack: StackId) -> Option<String> {
    let text = |id| trace.strings.get(id);
    let frames = trace.stacks.frames(stack).iter().map(|&id| trace.frames.get(id));
    title_of(frames.map(|frame| (text(frame.name), text(frame.filename), frame.line)))
}

/// Same as [`stack_title`] for names, files and lines, innermost first.
pub(in crate::analysis) fn title_of<'a>(
    mut frames: impl Iterator<Item = (&'a str, &'a str, u64)> + Clone,
) -> Option<String> {
    let position = frame_rules::title_position(frames.clone().map(|(name, filename, _)| (name, filename)))?;
    let (name, filename, line) = frames.nth(position)?;
    let operation = if frame_rules::is_runtime(filename) { frame_rules::operation(name) } else { None };
    Some(operation.unwrap_or_else(|| place(name, filename, line)))
}

/// Returns the place in the user's own code that a stack comes from, such as `train (train.py:88)`.
///
/// It is `None` if no frame is the user's own: on the thread of backward, in stacks of our recorder, and without
/// frames.
pub fn own_place(trace: &Trace, stack: StackId) -> Option<String> {
    let frame = trace.frames.get(own_frame(trace, stack, true)?);
    Some(place(trace.strings.get(frame.name), trace.strings.get(frame.filename), frame.line))
}

/// Returns the frame of the user's own code that a stack comes from.
///
/// If `is_call`, this is the frame that calls a module, backward or an optimizer, if there is one; otherwise the
/// innermost one.
pub(in crate::analysis) fn own_frame(trace: &Trace, stack: StackId, is_call: bool) -> Option<FrameId> {
    let text = |id| trace.strings.get(id);
    let frames = trace.stacks.frames(stack);
    let names = frames.iter().map(|&id| trace.frames.get(id)).map(|frame| (text(frame.name), text(frame.filename)));
    let position = if is_call { frame_rules::own_position(names) } else { frame_rules::innermost_own_position(names) };
    frames.get(position?).copied()
}

/// Returns up to two callers of a stack's title in the program: `< forward (model.py:3) < main (train.py:9)`.
///
/// The title of a stack of our recorder already names the callers, so the called operation is returned for it.
pub fn stack_callers(trace: &Trace, stack: StackId) -> String {
    const CALLERS: usize = 2;
    let texts = |&id| {
        let frame: &Frame = trace.frames.get(id);
        (trace.strings.get(frame.name), trace.strings.get(frame.filename), frame.line)
    };
    let frames = || trace.stacks.frames(stack).iter().map(texts);
    let operations = frames().take_while(|(_, filename, _)| *filename == frame_rules::RECORDED_OPERATOR);
    if let Some((operation, ..)) = operations.last() {
        return operation.to_owned();
    }
    let Some(title) = stack_title(trace, stack) else { return String::new() };
    let program = frames().filter(|(_, filename, _)| !frame_rules::is_runtime(filename));
    let places = program.map(|(name, filename, line)| place(name, filename, line));
    let callers = places.skip_while(|place| *place == title).take(CALLERS);
    callers.map(|caller| format!("< {caller}")).collect::<Vec<_>>().join(" ")
}

/// Formats a function with its file and line, as far as they are known.
pub fn place(name: &str, filename: &str, line: u64) -> String {
    let file = filename.rsplit(['/', '\\']).next().unwrap_or(filename);
    match (file, line) {
        ("" | "??", _) => name.to_owned(),
        _ if frame_rules::is_recorded(filename) => name.to_owned(),
        // Snapshots of tracemalloc have no functions.
        _ if name.is_empty() => format!("{file}:{line}"),
        (_, 0) => format!("{name} ({file})"),
        _ => format!("{name} ({file}:{line})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::text;

    #[test]
    fn a_title_is_a_place_in_the_program() {
        let trace = text::parse("alloc a 1 @relu<main\nalloc b 1").unwrap();
        let stacks = trace.devices[0].events.stacks();
        assert_eq!(stack_title(&trace, stacks.at(0)).as_deref(), Some("relu (main.py:1)"));
        assert_eq!(stack_title(&trace, stacks.at(1)), None);
    }

    #[test]
    fn an_own_place_is_where_the_model_is_called() {
        let own = |stack: &str| {
            let trace = text::parse(&format!("alloc a 1 {stack}")).unwrap();
            own_place(&trace, trace.devices[0].events.stacks().at(0))
        };
        let module = "_call_impl@v/site-packages/torch/nn/modules/module.py";
        assert_eq!(own(&format!("@layer@model.py<{module}<step@train.py<main")).as_deref(), Some("step (train.py:1)"));
        assert_eq!(own("@head@module"), None);
        assert_eq!(own(""), None);
    }

    #[test]
    fn callers_are_those_of_the_program() {
        let callers = |stack: &str| {
            let trace = text::parse(&format!("alloc a 1 {stack}")).unwrap();
            stack_callers(&trace, trace.devices[0].events.stacks().at(0))
        };
        let torch = "mm@v/site-packages/torch/nn/functional.py";
        assert_eq!(callers(&format!("@{torch}<f<{torch}<g<h<main")), "< g (main.py:1) < h (main.py:1)");
        assert_eq!(callers("@aten::mm@operator<aten::linear@operator<head@module"), "aten::linear");
        assert_eq!(callers(""), "");
    }

    #[test]
    fn a_place_is_as_long_as_it_is_known() {
        assert_eq!(place("f", "/srv/train.py", 88), "f (train.py:88)");
        assert_eq!(place("f", "C:\\train.py", 0), "f (train.py)");
        assert_eq!(place("f", "??", 3), "f");
        assert_eq!(place("head · forward", frame_rules::RECORDED_MODULE, 3), "head · forward");
    }
}
