//! Defines the types that leave the process as JSON.
//!
//! Scripts rely on the names of their fields. Types that the page and programs share are in [`report`](crate::report);
//! this module has the others of HTTP and `--json`.

mod catalog;
mod error;
mod fix;
mod inspect;
mod job;
mod recording;
mod run;
mod share;

pub use catalog::{CardRow, GalleryRow, ModelRow};
pub use error::{ErrorBody, ErrorCode, ProblemBody};
pub use fix::{FixCost, FixCostClass, FixFigures, FixLeftOut, FixRemedy, FixReport, FixShare};
pub use inspect::{
    DiagnoseReport, FormatName, FoundSource, Inspection, OfFile, OpenedFile, OpenedFiles, QuotedLine, SourceDocument,
};
pub use job::{
    JobChange, JobDetails, JobError, JobErrorCode, JobEvent, JobList, JobOutcome, JobRequest, JobResource, JobState,
    JobTask, KeyNote, Recorded, SCRIPTS, TaskSummary,
};
pub use recording::{
    Failed, Finished, FitFrontier, FitProbe, FitReport, FitRow, Message, OutOfMemory, Progress, RecorderLine,
    RecordingCurve, RecordingReport, Started, StepStart, SweepReport, SweepRow, Written,
};
pub use run::{
    EditPlace, RemedyEdit, RemedyFacts, RunOutOfMemory, RunReport, RunStatus, RunStop, RunsReport, ValueKind, ValueRead,
};
pub use share::{ServerLimits, ShareCreated, ShareRequest, ShareResource, SnapshotDigest};
