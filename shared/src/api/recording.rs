//! What the recorder says while it runs: one JSON document a line on standard output.

use serde::{Deserialize, Serialize};

/// A line of the recorder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RecorderLine {
    /// The first line: the device is there and the model is about to be built.
    Started(Started),
    /// Where the run is; at least once a phase of a step, at most some twenty times a second.
    Progress(Progress),
    /// Something a person should know, such as the kernels that attention takes.
    Message(Message),
    /// A snapshot was written to the output file; later ones replace it.
    Snapshot(Written),
    /// The last line of a run that came to its end, by itself or by running out of memory.
    Finished(Finished),
    /// The last line of a run that failed.
    Failed(Failed),
}

/// What a run takes place on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// The name that CUDA gives the device.
    pub device: String,
    /// Total memory of the device, in bytes.
    pub memory_bytes: u64,
    /// Parameters of the model, counted once where they are shared.
    pub parameters: u64,
    /// Optimizer steps that the run will take.
    pub steps: u64,
}

/// Where a run is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Progress {
    /// The step under way, from 0; `None` while the model is built.
    pub step: Option<u64>,
    /// The part of the step under way.
    pub phase: String,
    /// Requested bytes of the tensors alive.
    pub live_bytes: u64,
    /// Bytes of segments.
    pub reserved_bytes: u64,
}

/// Something a person should know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// A sentence without the full stop.
    pub text: String,
}

/// A snapshot that was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// Optimizer steps that it covers.
    pub steps: u64,
    /// Whether the run goes on after it.
    pub partial: bool,
}

/// A run that came to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// Optimizer steps that were completed.
    pub steps: u64,
    /// Highest rounded bytes of blocks in use, by PyTorch's own count.
    pub peak_allocated_bytes: u64,
    /// Highest bytes of segments, by PyTorch's own count.
    pub peak_reserved_bytes: u64,
    /// Where memory ran out, if it did.
    pub oom: Option<OutOfMemory>,
}

/// A run that memory ran out for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OutOfMemory {
    /// PyTorch's own message.
    pub message: String,
    /// The step that was under way, from 0; `None` while the model was built.
    pub step: Option<u64>,
    /// The part of the step.
    pub phase: String,
    /// The module that asked, such as `layers.3.attention`; empty outside of modules.
    pub module: String,
    /// The operation that asked, such as `aten::mm`; empty where unknown.
    pub operation: String,
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failed {
    /// What went wrong: PyTorch's message or the recorder's own.
    pub message: String,
    /// The step that was under way, from 0; `None` while the model was built.
    pub step: Option<u64>,
    /// The part of the step.
    pub phase: String,
    /// The module that was running; empty outside of modules.
    pub module: String,
}

/// What a recording came to: the document of `snapscope repro --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordingReport {
    /// What it ran on: cards as on the command line, or the name of a real GPU.
    pub card: String,
    /// Optimizer steps that were completed.
    pub steps: u64,
    /// Events of all devices.
    pub events: u64,
    /// Wall-clock time, from the start of the recorder to its end.
    pub seconds: f64,
    /// Highest requested bytes alive, on the device where they are highest.
    pub peak_live_bytes: u64,
    /// Highest rounded bytes of blocks in use, by PyTorch's own count.
    pub peak_allocated_bytes: u64,
    /// Highest bytes of segments, by PyTorch's own count.
    pub peak_reserved_bytes: u64,
    /// Where memory ran out, if it did.
    pub oom: Option<OutOfMemory>,
}

/// The memory of a recording over its events: the chart of a finished job.
///
/// It is computed from the snapshot, so that its highest points are the figures of the [`RecordingReport`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordingCurve {
    /// The CUDA index of the device that this is about: the one whose live bytes are highest.
    pub device: i64,
    /// Total memory of the device, in bytes; `None` where the run ended before it was known.
    pub capacity_bytes: Option<u64>,
    /// Events of the device; the curves run over one moment more, the one before the first event.
    pub events: u64,
    /// The highest live bytes within each of equal parts of the moments.
    pub live_curve: Vec<u64>,
    /// The highest segment bytes within the same parts.
    pub reserved_curve: Vec<u64>,
    /// The event after which live bytes are highest, -1 where they are before the first one.
    pub peak_event: i64,
    /// Where optimizer steps begin, some of them where there are very many.
    pub steps: Vec<StepStart>,
    /// The events at which memory ran out.
    pub oom_events: Vec<u64>,
}

/// Where an optimizer step begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepStart {
    /// The step, from 0.
    pub step: u64,
    /// Its first event.
    pub event: u64,
}
