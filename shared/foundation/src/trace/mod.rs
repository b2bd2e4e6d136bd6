//! The model of a snapshot: tables of columns, joined by handles.
//!
//! It is independent of file formats; `import` builds a [`Trace`] and `export` writes one.
//!
//! Invariant: `check()` holds for every [`Trace`] that leaves the builder.

mod accelerator;
mod event_table;
mod segment_table;
mod stack_table;
pub mod text;
mod trace_model;

pub use accelerator::{Accelerator, NPU_PADDING_BYTES};
pub use event_table::{Action, ContextId, ContextTable, Event, EventContext, EventTable, PoolId};
pub(crate) use segment_table::cut;
pub use segment_table::{Block, BlockState, HistoryEntry, Segment, SegmentTable, SegmentType};
pub use stack_table::{Frame, FrameId, FrameTable, FxNode, LineTable, LinesId, OwnFrames, StackId, StackTable};
pub use trace_model::{
    Annotation, Container, Device, Encoding, Format, FreedEarlier, OlderBlock, PartOf, Setting, Settings, Stage, Trace,
};
