//! Describes call stacks in a few words.

use crate::base::frame_rules;
pub use crate::base::stack_label::place;
use crate::base::stack_label::{FrameKind, FrameText, Labelled, StackLabel, distinguish, title_position};
use crate::trace::{FrameId, StackId, Trace};

/// Returns the title of a stack: its innermost frame of the user's own code with its place, `None` without frames.
///
/// If no frame is the user's own, the title is a frame of the program, an operation of PyTorch or the innermost Python
/// frame.
pub fn stack_title(trace: &Trace, stack: StackId) -> Option<String> {
    stack_label(trace, stack).map(|label| label.head())
}

/// Returns the label of a stack, `None` without frames.
pub fn stack_label(trace: &Trace, stack: StackId) -> Option<StackLabel> {
    trace.labelled(stack).label
}

/// Returns the labels of the stacks of a list, in its order; equal ones are told apart.
pub fn stack_labels(trace: &Trace, stacks: impl Iterator<Item = StackId>) -> Vec<Option<StackLabel>> {
    let mut list: Vec<Labelled<'_>> = stacks.map(|stack| trace.labelled(stack)).collect();
    distinguish(&mut list);
    list.into_iter().map(|one| one.label).collect()
}

/// Returns the title and the callers of a stack by which addresses of older versions know it.
///
/// Its title is the innermost frame of the program, whether it is the user's own or not.
pub fn former_title(trace: &Trace, stack: StackId) -> Option<(String, String)> {
    let Labelled { frames, kinds, .. } = trace.labelled(stack);
    let of_program = kinds.iter().position(|kind| !kind.is_runtime);
    let position = of_program.or_else(|| title_position(kinds.iter().copied()))?;
    Some((frame_title(frames[position]), callers(&frames, &kinds, position)))
}

fn frame_title((name, filename, line): FrameText<'_>) -> String {
    let operation = if frame_rules::is_runtime(filename) { frame_rules::operation(name) } else { None };
    operation.unwrap_or_else(|| place(name, filename, line))
}

/// Returns the place in the user's own code that a stack comes from, such as `train (train.py:88)`.
///
/// It is `None` if no frame is the user's own: on the thread of backward, in stacks of our recorder, and without
/// frames.
pub fn own_place(trace: &Trace, stack: StackId) -> Option<String> {
    let (name, filename, line) = trace.frame_text(own_frame(trace, stack, true)?);
    Some(place(name, filename, line))
}

/// Returns the frame of the user's own code that a stack comes from.
///
/// If `is_call`, this is the frame that calls a module, backward or an optimizer, if there is one; otherwise the
/// innermost one.
pub fn own_frame(trace: &Trace, stack: StackId, is_call: bool) -> Option<FrameId> {
    let frames = trace.stacks.frames(stack);
    let is_own = |position: usize| trace.frame_kind(frames[position]).is_own;
    if !is_call {
        return frames.iter().copied().find(|&frame| trace.frame_kind(frame).is_own);
    }
    let names = frames.iter().map(|&id| trace.frame_text(id)).map(|(name, filename, _)| (name, filename));
    frames.get(frame_rules::own_position(names, is_own)?).copied()
}

/// Returns up to two callers of a stack's title in the program: `< forward (model.py:3) < main (train.py:9)`.
///
/// The title of a stack of our recorder already names the callers, so the called operation is returned for it.
pub fn stack_callers(trace: &Trace, stack: StackId) -> String {
    let Labelled { frames, kinds, .. } = trace.labelled(stack);
    title_position(kinds.iter().copied()).map_or_else(String::new, |position| callers(&frames, &kinds, position))
}

fn callers(frames: &[FrameText<'_>], kinds: &[FrameKind], position: usize) -> String {
    const CALLERS: usize = 2;
    let operations = frames.iter().take_while(|(_, filename, _)| *filename == frame_rules::RECORDED_OPERATOR);
    if let Some((operation, ..)) = operations.last() {
        return (*operation).to_owned();
    }
    let title = frame_title(frames[position]);
    let outside = frames.iter().zip(kinds).skip(position).filter(|(_, kind)| !kind.is_runtime);
    let places = outside.map(|(&(name, filename, line), _)| place(name, filename, line));
    let callers = places.skip_while(|place| *place == title).take(CALLERS);
    callers.map(|caller| format!("< {caller}")).collect::<Vec<_>>().join(" ")
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
}
