//! Defines the lines that the recorder writes while it runs: one JSON document per line on standard output.

use serde::{Deserialize, Serialize};

/// Line of the recorder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RecorderLine {
    /// First line: the device is there and the model is about to be built.
    Started(Started),
    /// Progress of the run, at least once per phase of a step and at most some twenty times per second.
    Progress(Progress),
    /// Information for people, such as the kernels that attention uses.
    Message(Message),
    /// A snapshot was written to the output file; later snapshots replace it.
    Snapshot(Written),
    /// Last line of a run that completed its steps or ran out of memory.
    Finished(Finished),
    /// Last line of a run that failed.
    Failed(Failed),
}

/// Device, model and length of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// Name of the device in CUDA.
    pub device: String,
    /// Total memory of the device, in bytes.
    pub memory_bytes: u64,
    /// Parameters of the model; shared ones count once.
    pub parameters: u64,
    /// Planned optimizer steps.
    pub steps: u64,
}

/// Progress of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Progress {
    /// Current step, counted from 0; `null` while the model is built.
    pub step: Option<u64>,
    /// Current phase of the step.
    pub phase: String,
    /// Requested bytes of the live tensors.
    pub live_bytes: u64,
    /// Bytes of all segments.
    pub reserved_bytes: u64,
}

/// Information for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Sentence without its full stop.
    pub text: String,
}

/// Snapshot that was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// Optimizer steps that it covers.
    pub steps: u64,
    /// True if the run continues after it.
    pub partial: bool,
}

/// Run that completed its steps or ran out of memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// Optimizer steps that were completed.
    pub steps: u64,
    /// Highest rounded bytes of blocks in use, by PyTorch's own count.
    pub peak_allocated_bytes: u64,
    /// Highest bytes of segments, by PyTorch's own count.
    pub peak_reserved_bytes: u64,
    /// Out-of-memory error that ended the run, if there was one.
    pub oom: Option<OutOfMemory>,
}

/// Out-of-memory error of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OutOfMemory {
    /// Message of PyTorch.
    pub message: String,
    /// Step in which it happened, counted from 0; `null` while the model was built.
    pub step: Option<u64>,
    /// Phase of the step.
    pub phase: String,
    /// Module that requested the memory, such as `layers.3.attention`; empty outside modules.
    pub module: String,
    /// Operation that requested the memory, such as `aten::mm`; empty if unknown.
    pub operation: String,
}

/// Run that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failed {
    /// Cause of the failure: a message of PyTorch or of the recorder.
    pub message: String,
    /// Step in which it happened, counted from 0; `None` while the model was built.
    pub step: Option<u64>,
    /// Phase of the step.
    pub phase: String,
    /// Module that was running; empty outside modules.
    pub module: String,
}

/// Figures of a recording: the document of `snapscope repro --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordingReport {
    /// Virtual GPUs as on the command line, or the name of a real GPU.
    pub card: String,
    /// Optimizer steps that were completed.
    pub steps: u64,
    /// Number of events of all devices.
    pub events: u64,
    /// Wall-clock time of the recorder, in seconds.
    pub seconds: f64,
    /// Highest live bytes, on the device where they are highest.
    pub peak_live_bytes: u64,
    /// Highest rounded bytes of blocks in use, by PyTorch's own count.
    pub peak_allocated_bytes: u64,
    /// Highest bytes of segments, by PyTorch's own count.
    pub peak_reserved_bytes: u64,
    /// Out-of-memory error that ended the run, if there was one.
    pub oom: Option<OutOfMemory>,
}

/// Memory of a recording over its events: the chart of a finished job.
///
/// It is computed from the snapshot, so that its highest points are the figures of `RecordingReport`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordingCurve {
    /// CUDA index of the device whose live bytes are highest; all figures are about it.
    pub device: i64,
    /// Total memory of the device, in bytes; `null` if the run ended before it was known.
    pub capacity_bytes: Option<u64>,
    /// Number of events of the device; the curves also cover the moment before the first event.
    pub events: u64,
    /// Highest live bytes in each of several equal parts of the moments.
    pub live_curve: Vec<u64>,
    /// Highest segment bytes in the same parts.
    pub reserved_curve: Vec<u64>,
    /// Event after which live bytes are highest, -1 if they are highest before the first one.
    pub peak_event: i64,
    /// Starts of optimizer steps; only some of them if there are very many.
    pub steps: Vec<StepStart>,
    /// Events at which memory ran out.
    pub oom_events: Vec<u64>,
}

/// Start of an optimizer step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepStart {
    /// Step, counted from 0.
    pub step: u64,
    /// First event of the step.
    pub event: u64,
}
