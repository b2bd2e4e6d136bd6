//! What an export reads: a trace, or a trace with other tables.
//!
//! A cleaned copy has other texts, frames and stacks, and the events of the trace itself: ten million of them are not
//! to be held twice.

use crate::base::StringTable;
use crate::trace::{
    Annotation, ContextId, ContextTable, EventContext, FrameTable, Settings, StackId, StackTable, Trace,
};

/// A trace as an export reads it.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    /// Where devices, events, segments and blocks are from.
    pub(super) trace: &'a Trace,
    pub(super) strings: &'a StringTable,
    pub(super) frames: &'a FrameTable,
    pub(super) stacks: &'a StackTable,
    pub(super) contexts: &'a ContextTable,
    pub(super) annotations: &'a [Annotation],
    pub(super) settings: &'a Settings,
    /// What the trace's handles are in other tables.
    pub(super) renamed: Option<Renamed<'a>>,
}

/// The handles of other tables, by the index of the trace's own.
#[derive(Clone, Copy)]
pub(super) struct Renamed<'a> {
    pub(super) stacks: &'a [StackId],
    pub(super) contexts: &'a [ContextId],
}

impl<'a> Source<'a> {
    /// A trace as it is.
    pub(super) fn of(trace: &'a Trace) -> Self {
        let Trace { strings, frames, stacks, contexts, annotations, settings, .. } = trace;
        Self { trace, strings, frames, stacks, contexts, annotations, settings, renamed: None }
    }

    /// The stack behind a handle of the trace.
    pub(super) fn stack(&self, id: StackId) -> StackId {
        self.renamed.map_or(id, |renamed| renamed.stacks[id.index()])
    }

    /// The context behind a handle of the trace.
    pub(super) fn context(&self, id: ContextId) -> &'a EventContext {
        self.contexts.get(self.renamed.map_or(id, |renamed| renamed.contexts[id.index()]))
    }
}
