//! Remembers which frames are the user's own code.

use super::{Frame, FrameTable};
use crate::base::stack_label::FrameKind;
use crate::base::{OwnCode, StringTable};
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
        Self::new(self.rule.clone())
    }
}

impl OwnFrames {
    pub(super) fn new(rule: OwnCode) -> Self {
        Self { rule, kinds: OnceLock::new() }
    }

    pub(super) fn rule(&self) -> &OwnCode {
        &self.rule
    }

    /// Returns the kinds of all frames; frames that are added later are not among them.
    pub(super) fn kinds(&self, frames: &FrameTable, strings: &StringTable) -> &[FrameKind] {
        self.kinds.get_or_init(|| frames.iter().map(|frame| self.kind_of(frame, strings)).collect())
    }

    pub(super) fn kind_of(&self, frame: &Frame, strings: &StringTable) -> FrameKind {
        FrameKind::of(strings.get(frame.name), strings.get(frame.filename), &self.rule)
    }
}
