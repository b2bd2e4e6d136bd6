//! Remembers which frames are the user's own code.

use super::{FrameId, StackId, Trace};
use crate::base::OwnCode;
use crate::base::stack_label::{FrameKind, FrameText, Labelled};
use std::sync::OnceLock;

/// Rule for the user's own code, and what it says about each frame.
#[derive(Debug, Default)]
pub struct OwnFrames {
    rule: OwnCode,
    /// By frame; determined once, because a stack has dozens of frames and tables have thousands of stacks.
    kinds: OnceLock<Vec<FrameKind>>,
}

impl Clone for OwnFrames {
    /// Copies the rule alone, because the frames of a copy may be changed.
    fn clone(&self) -> Self {
        Self { rule: self.rule.clone(), kinds: OnceLock::new() }
    }
}

impl Trace {
    /// Returns the rule for the user's own code.
    pub fn own_code(&self) -> &OwnCode {
        &self.own_frames.rule
    }

    /// Sets the rule for the user's own code.
    pub fn set_own_code(&mut self, rule: OwnCode) {
        self.own_frames = OwnFrames { rule, kinds: OnceLock::new() };
    }

    /// Returns what kind a frame is of.
    pub fn frame_kind(&self, frame: FrameId) -> FrameKind {
        let kinds = self.own_frames.kinds.get_or_init(|| self.frames.iter().map(|frame| self.kind_of(frame)).collect());
        // Frames that were added later are judged by themselves.
        kinds.get(frame.index()).copied().unwrap_or_else(|| self.kind_of(self.frames.get(frame)))
    }

    fn kind_of(&self, frame: &super::Frame) -> FrameKind {
        FrameKind::of(self.strings.get(frame.name), self.strings.get(frame.filename), &self.own_frames.rule)
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
