//! Defines the types that leave the process as JSON.
//!
//! Scripts rely on the names of their fields. Types that the page and programs share are in [`report`](crate::report);
//! this module has the others of HTTP and `--json`.

mod catalog;
mod diagnose;
mod error;
mod error_code;
mod inspect;
mod job;
mod job_error;
mod job_task;
mod opened;
mod recording;
mod run;
mod share;
mod source;
mod sweep;

pub use catalog::{CardRow, GalleryRow, ModelRow};
pub use diagnose::{DiagnoseReport, OfFile};
pub use error::{ErrorBody, ProblemBody};
pub use error_code::ErrorCode;
pub use inspect::{FormatName, Inspection};
pub use job::{JobChange, JobDetails, JobEvent, JobList, JobOutcome, JobRequest, JobResource, JobState, KeyNote};
pub use job_error::{JobError, JobErrorCode};
pub use job_task::{JobTask, Recorded, TaskSummary};
pub use opened::{OpenedFile, OpenedFiles};
pub use recording::{
    Failed, Finished, Message, OutOfMemory, Progress, RecorderLine, RecordingCurve, RecordingReport, Started,
    StepStart, Written,
};
pub use run::{RunOutOfMemory, RunReport, RunStatus, RunStop, RunsReport, ValueKind, ValueRead};
pub use share::{ServerLimits, ShareCreated, ShareRequest, ShareResource, SnapshotDigest};
pub use source::{FoundSource, QuotedLine, SourceDocument};
pub use sweep::{FitProbe, FitReport, SweepReport, SweepRow};
