//! What the page and a file's worker say to each other, and the worker's half of the talk.
//!
//! Nothing here knows the browser: `platform` carries the messages.

mod payload;
mod protocol;
mod summary;

mod queue;

mod engine;

pub use engine::{Engine, Reply};
pub use payload::{PayloadCounts, encode};
pub use protocol::{
    Answer, AxisKind, Details, FrameText, Hit, HitAllocation, Mark, MarkKind, Marks, Order, OutlineStep, PictureData,
    Question, Report, Span, StackRow, Stacks, View,
};
pub use queue::Queue;
pub use summary::{DeviceFigures, DeviceOutline, FileSummary, Notice, SettingText};
