//! Names the stacks of a trace.

use super::{FrameId, OwnFrames, StackId, Trace};
use crate::base::OwnCode;
use crate::base::stack_label::{FrameKind, FrameText, Labelled};

impl Trace {
    /// Returns the rule for the user's own code.
    pub fn own_code(&self) -> &OwnCode {
        self.own_frames.rule()
    }

    /// Sets the rule for the user's own code.
    pub fn set_own_code(&mut self, rule: OwnCode) {
        self.own_frames = OwnFrames::new(rule);
    }

    /// Returns what kind a frame is of.
    pub fn frame_kind(&self, frame: FrameId) -> FrameKind {
        let kinds = self.own_frames.kinds(&self.frames, &self.strings);
        let added = || self.own_frames.kind_of(self.frames.get(frame), &self.strings);
        kinds.get(frame.index()).copied().unwrap_or_else(added)
    }

    /// Returns a stack with its label.
    pub fn labelled(&self, stack: StackId) -> Labelled<'_> {
        let ids = self.stacks.frames(stack);
        let text = |&id: &FrameId| -> FrameText<'_> {
            let frame = self.frames.get(id);
            (self.strings.get(frame.name), self.strings.get(frame.filename), frame.line)
        };
        Labelled::new(ids.iter().map(text).collect(), ids.iter().map(|&id| self.frame_kind(id)).collect())
    }
}
