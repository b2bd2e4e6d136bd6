//! Call stacks in a few words.

use crate::base::frame_rules;
use crate::trace::{Frame, StackId, Trace};

/// What a stack is about: the innermost frame of the program with its place, `None` without frames.
pub fn stack_title(trace: &Trace, stack: StackId) -> Option<String> {
    let frames: Vec<&Frame> = trace.stacks.frames(stack).iter().map(|&id| trace.frames.get(id)).collect();
    let texts = frames.iter().map(|frame| (trace.strings.get(frame.name), trace.strings.get(frame.filename)));
    let position = frame_rules::title_position(texts)?;
    let (name, filename) = (trace.strings.get(frames[position].name), trace.strings.get(frames[position].filename));
    let operation = if frame_rules::is_runtime(filename) { frame_rules::operation(name) } else { None };
    Some(operation.unwrap_or_else(|| place(name, filename, frames[position].line)))
}

/// A function with its file and line, as far as they are known.
pub fn place(name: &str, filename: &str, line: u64) -> String {
    let file = filename.rsplit(['/', '\\']).next().unwrap_or(filename);
    match (file, line) {
        ("" | "??", _) => name.to_owned(),
        _ if frame_rules::is_recorded(filename) => name.to_owned(),
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
    fn a_place_is_as_long_as_it_is_known() {
        assert_eq!(place("f", "/srv/train.py", 88), "f (train.py:88)");
        assert_eq!(place("f", "C:\\train.py", 0), "f (train.py)");
        assert_eq!(place("f", "??", 3), "f");
        assert_eq!(place("head · forward", frame_rules::RECORDED_MODULE, 3), "head · forward");
    }
}
