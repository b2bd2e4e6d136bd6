//! Defines what recordings answer: the lines that the recorder writes while it runs, each a JSON document, and the
//! documents of `snapscope sweep --json`, `snapscope fit --json` and jobs with these tasks.

use serde::{Deserialize, Serialize};

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

/// Results of all combinations of a config with ranges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SweepReport {
    /// Name of the config.
    pub name: String,
    /// Keys that vary, slowest first.
    pub axes: Vec<String>,
    /// One row for each combination.
    pub rows: Vec<SweepRow>,
}

/// One combination and the result of its recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SweepRow {
    /// Virtual cards as on the command line, or the real device.
    pub card: String,
    /// Number format, such as `autocast-bf16`.
    pub precision: String,
    /// True if activations are recomputed in backward.
    pub checkpointing: bool,
    /// Tokens per sample; `None` for a model that reads no sequences.
    pub sequence: Option<u64>,
    /// Samples per micro batch.
    pub batch: u64,
    /// Total memory of the card, in bytes; `None` for a real GPU that was not reached.
    pub memory_bytes: Option<u64>,
    /// Figures of the recording; `None` if it failed.
    pub recording: Option<RecordingReport>,
    /// Reason why the recording failed; `None` if it did not.
    pub failure: Option<String>,
}

/// Largest batch of a config that fits a card, or largest value of a script's placeholder, and the runs that prove it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FitReport {
    /// Name of the config or script.
    pub name: String,
    /// Virtual cards as on the command line, or the real device.
    pub card: String,
    /// Total memory of the card, in bytes; `None` for a real GPU that was not reached.
    pub memory_bytes: Option<u64>,
    /// Largest batch that fitted in a recording; `None` if none did.
    pub batch: Option<u64>,
    /// Largest batch that the config allows, if no recording of a larger batch than `batch` ran out of memory.
    pub limit: Option<u64>,
    /// Batches that did not fit although a larger one did.
    pub gaps: Vec<u64>,
    /// All recordings, by batch.
    pub probes: Vec<FitProbe>,
    /// Words of a script's command that take the place of the batch, such as `--batch-size {}`; `None` for a config.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// Largest value for each value of a second placeholder; there is no `batch` and there are no `probes` then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frontier: Option<FitFrontier>,
    /// Sentences without their full stop on what ended the search of a script early.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Largest values of a script's first placeholder that fit, by the second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FitFrontier {
    /// Words of the command that have the second placeholder, such as `--length {}`.
    pub variable: String,
    /// A row for each value of the second placeholder, the smallest first.
    pub rows: Vec<FitRow>,
}

/// Largest value that fits with a value of the second placeholder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FitRow {
    /// Value of the second placeholder.
    pub value: u64,
    /// Largest value of the first placeholder that fitted; `None` if none did.
    pub batch: Option<u64>,
    /// The runs with this value, by the first placeholder.
    pub probes: Vec<FitProbe>,
}

/// One recording of the search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FitProbe {
    /// Samples per micro batch, or the value of the placeholder.
    pub batch: u64,
    /// Highest rounded bytes of blocks in use.
    pub peak_allocated_bytes: u64,
    /// Highest bytes of segments.
    pub peak_reserved_bytes: u64,
    /// Out-of-memory error that ended the recording, if there was one.
    pub oom: Option<OutOfMemory>,
    /// Messages of the recorder, such as that PyTorch had to free its cache.
    pub messages: Vec<String>,
    /// Reason other than memory why a script did not go as far with this value, as a clause; `None` if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}
