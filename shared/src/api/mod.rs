//! Wire types: what leaves the process as JSON.
//!
//! The names of their fields are promises to scripts; domain types are converted by hand.

mod inspect;
mod peak;
mod recording;
mod sweep;

pub use inspect::{DeviceFigures, DiagnosticRow, FormatName, Inspection};
pub use peak::{FrameRow, PeakGroup, PeakReport};
pub use recording::{
    Failed, Finished, Message, OutOfMemory, Progress, RecorderLine, RecordingReport, Started, Written,
};
pub use sweep::{FitProbe, FitReport, SweepReport, SweepRow};
