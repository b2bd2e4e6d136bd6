//! Lets an export read either a trace or its sanitized copy.
//!
//! A sanitized copy has texts, frames and stacks of its own but shares the events of the trace, because ten million
//! events should not be in memory twice.

use crate::base::StringTable;
use crate::trace::{
    Annotation, ContextId, ContextTable, EventContext, FrameTable, Settings, StackId, StackTable, Trace,
};

/// View of a trace or of its sanitized copy, as an export reads it.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    /// Trace of the devices, events, segments and blocks.
    pub(super) trace: &'a Trace,
    pub(super) strings: &'a StringTable,
    pub(super) frames: &'a FrameTable,
    pub(super) stacks: &'a StackTable,
    pub(super) contexts: &'a ContextTable,
    pub(super) annotations: &'a [Annotation],
    pub(super) settings: &'a Settings,
    /// Handles in the tables above; `None` if these are the trace's own tables.
    pub(super) renamed: Option<Renamed<'a>>,
}

/// Handles in the tables of a copy, indexed by the trace's own handles.
#[derive(Clone, Copy)]
pub(super) struct Renamed<'a> {
    pub(super) stacks: &'a [StackId],
    pub(super) contexts: &'a [ContextId],
}

impl<'a> Source<'a> {
    /// Creates a view of a trace with its own tables.
    pub(super) fn of(trace: &'a Trace) -> Self {
        let Trace { strings, frames, stacks, contexts, annotations, settings, .. } = trace;
        Self { trace, strings, frames, stacks, contexts, annotations, settings, renamed: None }
    }

    /// Converts a stack handle of the trace into one of this view's tables.
    pub(super) fn stack(&self, id: StackId) -> StackId {
        self.renamed.map_or(id, |renamed| renamed.stacks[id.index()])
    }

    /// Returns the context for a context handle of the trace.
    pub(super) fn context(&self, id: ContextId) -> &'a EventContext {
        self.contexts.get(self.renamed.map_or(id, |renamed| renamed.contexts[id.index()]))
    }
}
