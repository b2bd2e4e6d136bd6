//! The model of a snapshot: tables of columns, joined by handles.
//!
//! It is independent of file formats; `import` builds a [`Trace`] and `export` writes one.
//!
//! Invariant: `check()` holds for every [`Trace`] that leaves the builder.

mod accelerator;
mod context_table;
mod event_table;
mod frame_table;
mod segment_table;
mod stack_table;
pub mod text;
mod trace_model;

pub use accelerator::{Accelerator, NPU_PADDING_BYTES};
pub use context_table::{ContextId, ContextTable, EventContext, PoolId};
pub use event_table::{Action, Event, EventTable};
pub use frame_table::{Frame, FrameId, FrameTable, FxNode, OwnFrames};
pub use segment_table::{Block, BlockState, HistoryEntry, Segment, SegmentTable, SegmentType};
pub use stack_table::{LineTable, LinesId, StackId, StackTable};
pub use trace_model::{
    Annotation, Container, Device, Encoding, Format, FreedEarlier, OlderBlock, PartOf, Setting, Settings, Stage, Trace,
};
