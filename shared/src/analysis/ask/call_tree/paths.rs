//! Converts stacks to paths of sites, optionally without the frames of the runtime.

use crate::base::{frame_rules, stack_label};
use crate::trace::{Frame, FrameId, StackId, Trace};
use hashbrown::HashMap;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MergeBy {
    /// Frames with the same function name and file.
    Function,
    /// Frames with the same function name, file and line.
    #[default]
    Line,
}

/// Options for the conversion of stacks to paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PathConfig {
    /// Frames that are merged into one site.
    pub merge: MergeBy,
    /// True to leave out the frames of the runtime below the program.
    ///
    /// The runtime function that the program calls stays, because it says which operation allocates.
    pub folds_runtime: bool,
}

/// Place in the program that a node of a call tree stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Site {
    /// Root of a tree of whole stacks.
    All,
    /// All frames merged with this one, which is the first of them in the trace's table.
    Frame(FrameId),
    /// Allocations without a stack.
    NoStack,
}

/// Properties of each frame of a trace, computed once.
#[derive(Debug)]
pub(super) struct Paths<'a> {
    trace: &'a Trace,
    folds_runtime: bool,
    /// First of the frames that each frame is merged with.
    merged: Vec<FrameId>,
    /// Role of each frame; empty if nothing is folded.
    roles: Vec<Role>,
}

#[derive(Clone, Copy, Debug)]
struct Role {
    is_runtime: bool,
    /// True for a frame that is left out, unless it is the title of its stack or the title's callee.
    folds: bool,
    /// True for a Python function that is more than a wrapper.
    is_function: bool,
    is_operation: bool,
}

impl<'a> Paths<'a> {
    pub(super) fn new(trace: &'a Trace, config: PathConfig) -> Self {
        let roles = if config.folds_runtime {
            trace.frames.iter().map(|frame| role(trace, frame)).collect()
        } else {
            Vec::new()
        };
        Self { trace, folds_runtime: config.folds_runtime, merged: merged(trace, config.merge), roles }
    }

    /// Appends the sites of a stack to `path`, outermost first; at least one.
    pub(super) fn push(&self, stack: StackId, path: &mut Vec<Site>) {
        let frames = self.trace.stacks.frames(stack);
        let site = |frame: FrameId| Site::Frame(self.merged[frame.index()]);
        if frames.is_empty() {
            path.push(Site::NoStack);
        } else if self.folds_runtime {
            let title = self.title(frames);
            let callee = title.and_then(|title| self.callee(&frames[..title]));
            let is_shown =
                |position| !self.role(frames, position).folds || Some(position) == title || Some(position) == callee;
            path.extend((0..frames.len()).rev().filter(|&position| is_shown(position)).map(|at| site(frames[at])));
        } else {
            path.extend(frames.iter().rev().map(|&frame| site(frame)));
        }
    }

    fn role(&self, frames: &[FrameId], position: usize) -> Role {
        self.roles[frames[position].index()]
    }

    /// Returns the position of the frame that best describes the stack.
    fn title(&self, frames: &[FrameId]) -> Option<usize> {
        let of_program = (0..frames.len()).find(|&position| !self.role(frames, position).is_runtime);
        of_program.or_else(|| {
            let strings = &self.trace.strings;
            let frames = frames.iter().map(|&id| self.trace.frames.get(id));
            stack_label::automatic_position(frames.map(|frame| (strings.get(frame.name), strings.get(frame.filename))))
        })
    }

    /// Returns the position of the function or operation that the title calls; `called` are the frames inside it.
    fn callee(&self, called: &[FrameId]) -> Option<usize> {
        let function = (0..called.len()).rfind(|&position| self.role(called, position).is_function);
        function.or_else(|| (0..called.len()).rfind(|&position| self.role(called, position).is_operation))
    }
}

fn role(trace: &Trace, frame: &Frame) -> Role {
    let (name, filename) = (trace.strings.get(frame.name), trace.strings.get(frame.filename));
    let is_runtime = frame_rules::is_runtime(filename);
    Role {
        is_runtime,
        folds: is_runtime && !frame_rules::is_recorded(filename),
        is_function: filename.ends_with(".py") && !frame_rules::is_plumbing(name),
        is_operation: frame_rules::operation(name).is_some(),
    }
}

fn merged(trace: &Trace, merge: MergeBy) -> Vec<FrameId> {
    let mut firsts = HashMap::new();
    let first = |(index, frame): (usize, &Frame)| {
        let line = if merge == MergeBy::Line { frame.line } else { 0 };
        *firsts.entry((frame.name, frame.filename, line)).or_insert(FrameId::from_index(index))
    };
    trace.frames.iter().enumerate().map(first).collect()
}
