//! Call stacks in words: their titles, and their frames with those of the runtime folded.

use super::selection::NameMark;
use shared::base::stack_label::{self, FrameText, Labelled};
use shared::base::{OwnCode, StackLabel, frame_rules};
use shared::report::Frame;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StackLine {
    /// Frame, which may belong to the runtime.
    Frame { position: usize, is_runtime: bool },
    /// Number of runtime frames hidden here.
    Fold(usize),
}

/// Returns the lines of a stack; runs of runtime frames are folded unless `is_unfolded`.
///
/// The frame that titles the stack is always shown, so that a stack of runtime frames alone is still meaningful.
pub fn lines(frames: &[Frame], is_unfolded: bool) -> Vec<StackLine> {
    let title = title_position(frames);
    let mut lines = Vec::new();
    for (position, frame) in frames.iter().enumerate() {
        let is_runtime = frame_rules::is_runtime(&frame.filename);
        match lines.last_mut() {
            _ if is_unfolded || !folds(frame) || Some(position) == title => {
                lines.push(StackLine::Frame { position, is_runtime });
            }
            Some(StackLine::Fold(count)) => *count += 1,
            _ => lines.push(StackLine::Fold(1)),
        }
    }
    lines
}

/// Returns true if a frame may be folded.
///
/// Recorded operations are never folded, because they are few and each is informative.
fn folds(frame: &Frame) -> bool {
    frame_rules::is_runtime(&frame.filename) && !frame_rules::is_recorded(&frame.filename)
}

pub fn folded_count(frames: &[Frame]) -> usize {
    let count = |line| if let StackLine::Fold(count) = line { count } else { 0 };
    lines(frames, false).into_iter().map(count).sum()
}

/// Returns the position of the frame that describes a stack best.
pub fn title_position(frames: &[Frame]) -> Option<usize> {
    stack_label::automatic_position(frames.iter().map(|frame| (frame.name.as_str(), frame.filename.as_str())))
}

/// Returns the mark that stands for a stack in addresses, made of each frame's function, file name and line.
pub fn stack_mark(frames: &[Frame]) -> NameMark {
    let lines: Vec<String> = frames.iter().map(|frame| frame.line.to_string()).collect();
    let words = frames.iter().zip(&lines);
    NameMark::of(words.flat_map(|(frame, line)| [frame.name.as_str(), file_name(&frame.filename), line]))
}

/// Returns the last part of a path, which is the same in copies with shortened paths.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// Returns a frame's title: the operation behind a symbol of PyTorch's C++ code, else the function's name.
pub fn frame_title(frame: &Frame) -> String {
    stack_label::title(text_of(frame))
}

fn text_of(frame: &Frame) -> FrameText<'_> {
    (&frame.name, &frame.filename, frame.line)
}

/// Returns a frame's place with the last two folders of its path: `gpt2/modeling_gpt2.py:412`.
///
/// The place is empty if the file is unknown, or if the name says everything.
pub fn short_place(frame: &Frame) -> String {
    if frame.filename.is_empty() || frame.filename == "??" || frame_rules::is_recorded(&frame.filename) {
        return String::new();
    }
    with_line(&last_parts(&frame.filename, 2), frame.line)
}

/// Returns a frame's full place; empty if the name says everything.
pub fn full_place(frame: &Frame) -> String {
    if frame_rules::is_recorded(&frame.filename) {
        return String::new();
    }
    with_line(&frame.filename, frame.line)
}

/// Formats a stack as text with one line per frame, similar to Python's tracebacks but innermost first.
pub fn as_text(frames: &[Frame]) -> String {
    let line = |frame: &Frame| match full_place(frame).as_str() {
        "" => format!("{}\n", frame.name),
        place => format!("{} ({place})\n", frame.name),
    };
    frames.iter().map(line).collect()
}

fn last_parts(path: &str, count: usize) -> String {
    let mut parts: Vec<&str> = path.rsplit(['/', '\\']).filter(|part| !part.is_empty()).take(count).collect();
    parts.reverse();
    parts.join("/")
}

/// Appends the line to a path, unless it is 0 as in compiled frames without debug information.
fn with_line(path: &str, line: u64) -> String {
    if line == 0 { path.to_owned() } else { format!("{path}:{line}") }
}

/// Returns the label of a stack by the automatic rule for own code, given its frames innermost first.
pub fn label(frames: &[Frame]) -> StackLabel {
    let frames = frames.iter().map(text_of).collect();
    titled(Labelled::with_rule(frames, &OwnCode::Automatic).label)
}

/// Returns a label to show for a stack, which may have none.
pub fn titled(label: Option<StackLabel>) -> StackLabel {
    label.unwrap_or_else(|| StackLabel { title: "No stack recorded".to_owned(), ..StackLabel::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(name: &str, filename: &str, line: u64) -> Frame {
        Frame { name: name.into(), filename: filename.into(), line, fx: None }
    }

    fn stack() -> Vec<Frame> {
        vec![
            frame("c10::malloc()", "CUDACachingAllocator.cpp", 0),
            frame("at::_ops::mm::call()", "??", 0),
            frame("forward", "/srv/app/model.py", 12),
            frame("_call_impl", "/v/site-packages/torch/nn/modules/module.py", 1750),
            frame("main", "/srv/app/train.py", 80),
        ]
    }

    #[test]
    fn runs_of_runtime_frames_fold() {
        let shown = |position| StackLine::Frame { position, is_runtime: false };
        assert_eq!(lines(&stack(), false), [StackLine::Fold(2), shown(2), StackLine::Fold(1), shown(4)]);
        assert_eq!(folded_count(&stack()), 3);
        assert_eq!(lines(&stack(), true).len(), 5);
    }

    #[test]
    fn a_stack_of_the_runtime_keeps_its_title() {
        let frames = &stack()[..2];
        assert_eq!(lines(frames, false), [StackLine::Fold(1), StackLine::Frame { position: 1, is_runtime: true }]);
        assert_eq!(frame_title(&frames[1]), "aten::mm");
    }

    #[test]
    fn a_stack_says_what_its_program_called() {
        assert_eq!(label(&stack()).text(), "forward (model.py:12) → aten::mm");
        let torch = |name| frame(name, "/v/site-packages/torch/nn/functional.py", 9);
        let program = frame("step", "/srv/app/train.py", 5);
        let module = frame("forward", "/v/site-packages/torch/nn/modules/linear.py", 9);
        let frames = [frame("at::_ops::mm::call()", "??", 0), module, torch("_call_impl"), program.clone()];
        assert_eq!(label(&frames).leaf, "linear");
        assert_eq!(label(&[torch("dropout"), torch("wrapper"), program.clone()]).leaf, "dropout");
        assert_eq!(label(&[program]).leaf, "");
        assert_eq!(label(&[]).title, "No stack recorded");
    }

    #[test]
    fn a_recorded_stack_is_named_by_its_module() {
        let module = frame("layers.3.mlp.up · backward", "module", 0);
        let frames = [
            frame("aten::mm", "operator", 0),
            frame("AddmmBackward0", "operator", 0),
            module,
            frame("backward", "phase", 0),
        ];
        assert_eq!(title_position(&frames), Some(2));
        assert_eq!(frame_title(&frames[2]), "layers.3.mlp.up · backward");
        assert_eq!((short_place(&frames[2]), full_place(&frames[2])), (String::new(), String::new()));
        assert_eq!(label(&frames).leaf, "AddmmBackward0");
        assert_eq!(folded_count(&frames), 0);
        assert_eq!(as_text(&frames[1..3]), "AddmmBackward0\nlayers.3.mlp.up · backward\n");
    }

    #[test]
    fn places_are_short_and_full() {
        assert_eq!(short_place(&stack()[3]), "modules/module.py:1750");
        assert_eq!(short_place(&stack()[1]), "");
        assert_eq!(short_place(&frame("f", r"C:\a\b\c.py", 3)), "b/c.py:3");
        assert_eq!(full_place(&stack()[2]), "/srv/app/model.py:12");
        assert_eq!(as_text(&stack()[2..3]), "forward (/srv/app/model.py:12)\n");
    }
}
