//! The model of a snapshot: tables of columns, joined by handles.
//!
//! It is independent of file formats; `import` builds a [`Trace`] and `export` writes one.
//!
//! Invariant: `check()` holds for every [`Trace`] that leaves the builder.

mod accelerator;
mod annotation;
mod context_table;
mod device;
mod event_table;
mod frame_table;
mod labels;
mod line_table;
mod own_frames;
mod part;
mod segment_table;
mod settings;
mod stack_table;
pub mod text;
mod trace_model;

pub use accelerator::{Accelerator, NPU_PADDING_BYTES};
pub use annotation::{Annotation, Stage};
pub use context_table::{ContextId, ContextTable, EventContext, PoolId};
pub use device::Device;
pub use event_table::{Action, Event, EventTable};
pub use frame_table::{Frame, FrameId, FrameTable, FxNode};
pub use line_table::{LineTable, LinesId};
pub use own_frames::OwnFrames;
pub use part::{FreedEarlier, OlderBlock, PartOf};
pub use segment_table::{Block, BlockState, HistoryEntry, Segment, SegmentTable, SegmentType};
pub use settings::{Setting, Settings};
pub use stack_table::{StackId, StackTable};
pub use trace_model::{Container, Encoding, Format, Trace};
