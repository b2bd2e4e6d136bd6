//! The clean tables of a trace, which a copy is written from.

use crate::base::StringTable;
use crate::trace::{Annotation, ContextId, ContextTable, FrameTable, Settings, StackId, StackTable};

/// Clean tables, and the handles in them, indexed by the trace's own handles.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) strings: StringTable,
    pub(super) frames: FrameTable,
    pub(super) stacks: StackTable,
    pub(super) contexts: ContextTable,
    pub(super) annotations: Vec<Annotation>,
    pub(super) settings: Settings,
    pub(super) stack_ids: Vec<StackId>,
    pub(super) context_ids: Vec<ContextId>,
}
