//! Defines reproduction jobs over HTTP: what a job does, its results, and the reason why it failed.

use super::{FitReport, FixReport, OutOfMemory, Progress, RecordingCurve, RecordingReport, SweepReport};
use serde::{Deserialize, Serialize};

/// Request for a recording: the body of `POST /api/v1/jobs`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct JobRequest {
    /// Training config in TOML, YAML or JSON, or the `config.json` of Hugging Face; for the task `script`, a Python script.
    pub config: String,
    /// File name of the config, whose suffix decides the format; without one, the content does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_name: Option<String>,
    /// `TrainingArguments` for a Hugging Face config, in JSON or YAML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training_args: Option<String>,
    /// Virtual GPUs instead of the config's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<String>,
    /// A real GPU instead of the config's virtual GPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Optimizer steps instead of the config's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Samples per micro-batch instead of the config's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// Tokens per sample instead of the config's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// Priority from 0 to 9; jobs with a higher one run first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// What to do with the config; one recording if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<JobTask>,
}

/// State of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// The job waits for a worker of the server.
    Queued,
    /// A worker of the server runs the job.
    Running,
    /// The job has ended with a snapshot.
    Finished,
    /// The job has ended without a snapshot; an error says why.
    Failed,
    /// The job was cancelled.
    Cancelled,
}

impl JobState {
    /// All states, in the order of a job's life.
    pub const ALL: [Self; 5] = [Self::Queued, Self::Running, Self::Finished, Self::Failed, Self::Cancelled];

    /// Returns the word in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Parses a state from its word in JSON.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }

    /// Returns true if the state is final.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Failed | Self::Cancelled)
    }
}

/// Outcome of a job that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobOutcome {
    /// All steps were completed, and there is a snapshot.
    Completed,
    /// Memory ran out before, and there is a snapshot up to that point.
    OutOfMemory,
    /// There is no snapshot, and an error says why.
    Failed,
    /// The job was cancelled.
    Cancelled,
}

impl JobOutcome {
    /// Returns the outcome of a job from its state and its recording's report; `None` until it is over.
    pub fn of(state: JobState, report: Option<&RecordingReport>) -> Option<Self> {
        match state {
            JobState::Queued | JobState::Running => None,
            JobState::Finished if report.is_some_and(|report| report.oom.is_some()) => Some(Self::OutOfMemory),
            JobState::Finished => Some(Self::Completed),
            JobState::Failed => Some(Self::Failed),
            JobState::Cancelled => Some(Self::Cancelled),
        }
    }
}

/// Change of a job: the body of `PATCH /api/v1/jobs/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct JobChange {
    /// New name for people, of up to 100 characters on one line.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 100))]
    pub name: String,
}

impl JobChange {
    /// Maximum number of characters of a name.
    pub const MOST_NAME: usize = 100;
}

/// Job: the answer of `GET /api/v1/jobs/{id}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobResource {
    /// Identifier in URLs.
    pub id: String,
    /// State of the job.
    pub state: JobState,
    /// Outcome, once the job is over.
    pub outcome: Option<JobOutcome>,
    /// Name for people.
    pub name: String,
    /// Device kind: `virtual`, or a real GPU such as `cuda:0`.
    pub kind: String,
    /// Virtual GPUs as on the command line, or the real device.
    pub card: String,
    /// Priority from 0 to 9; jobs with a higher one run first.
    pub priority: u8,
    /// Requested optimizer steps.
    pub steps: u64,
    /// Time of submission, in milliseconds since 1970.
    pub created_ms: i64,
    /// Time of the last start, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// Time of the end, in milliseconds since 1970.
    pub finished_ms: Option<i64>,
    /// Number of starts.
    pub attempts: u32,
    /// Number of jobs before it, while it waits.
    pub before: Option<u64>,
    /// Progress, while it runs.
    pub progress: Option<Progress>,
    /// Figures of the recording; `null` for a job that makes several.
    pub result: Option<RecordingReport>,
    /// What the job does.
    #[serde(default)]
    pub task: JobTask,
    /// Latest recording that has ended, while a job that makes several runs.
    pub recorded: Option<Recorded>,
    /// Result of a job that makes several recordings.
    pub summary: Option<TaskSummary>,
    /// Error, if the job failed.
    pub error: Option<JobError>,
    /// Compressed size in bytes of the snapshot at `/api/v1/jobs/{id}/snapshot`.
    pub snapshot_bytes: Option<u64>,
}

/// Job with further details, which its own page shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobDetails {
    /// Job as in the list of jobs.
    #[serde(flatten)]
    pub job: JobResource,
    /// Config as it was submitted.
    pub source: String,
    /// Notes on the keys of a Hugging Face config.
    pub notes: Vec<KeyNote>,
    /// Last lines of the recorder, once it has ended.
    pub log: Vec<String>,
    /// Total memory of each of its GPUs, in bytes; `null` if they differ, and for a device that nothing ran on yet.
    pub capacity_bytes: Option<u64>,
    /// Memory over the recording, from its snapshot; `null` without one, and for jobs that an older version recorded.
    pub curve: Option<RecordingCurve>,
    /// Largest batch that fits and the recordings that prove it, once a `fit` has finished.
    pub fit: Option<FitReport>,
    /// Results of all combinations, once a `sweep` has finished.
    pub sweep: Option<SweepReport>,
    /// What makes the config fit, and what each remedy saves and costs, once a `fix` has finished.
    pub fix: Option<FixReport>,
}

/// Note on a key of a Hugging Face config.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KeyNote {
    /// Key, such as `n_embd`.
    pub key: String,
    /// True if the key has a meaning here.
    pub understood: bool,
    /// Meaning of the key, or the reason why it was ignored; without a period at the end.
    pub note: String,
}

/// Page of the list of jobs: the answer of `GET /api/v1/jobs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobList {
    /// Jobs, the latest first.
    pub jobs: Vec<JobResource>,
    /// Value of `before` for the next page, if there is one.
    pub next: Option<String>,
}

/// Event of a job: the data of a server-sent event, whose id is its number in the job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum JobEvent {
    /// The state has changed.
    State {
        /// New state.
        state: JobState,
    },
    /// The device and the model are known.
    Started {
        /// Name of the device in CUDA.
        device: String,
        /// Total memory of the device, in bytes.
        memory_bytes: u64,
        /// Parameters of the model; shared ones count once.
        parameters: u64,
        /// Planned optimizer steps.
        steps: u64,
    },
    /// The run has made progress.
    Progress(Progress),
    /// The recorder has information for people.
    Message {
        /// Sentence without a period at the end.
        text: String,
    },
    /// Memory ran out, which ends the recording.
    OutOfMemory(OutOfMemory),
    /// One recording of a job that makes several has ended.
    Recorded(Recorded),
}

crate::codes! {
    /// Kind of a job's failure.
    pub enum JobErrorCode {
        /// The server has no space for the recording.
        NoRoom => "no_room",
        /// Another version of Snapscope accepted the config, and it is not valid in this one.
        InvalidConfig => "invalid_config",
        /// The recorder could not complete the recording.
        RecordingFailed => "recording_failed",
        /// The recording could not be stored.
        NotStored => "not_stored",
        /// Every worker that recorded the job died while it ran.
        WorkerDied => "worker_died",
    }
}

/// Reason why a job failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobError {
    /// Kind of the failure; a job of another version may have one that is not in the list.
    #[cfg_attr(feature = "openapi", schema(value_type = JobErrorCode))]
    pub code: String,
    /// Sentence that says what happened.
    pub message: String,
    /// Sentence that says what to do about it.
    pub hint: String,
}

impl JobError {
    pub fn new(code: JobErrorCode, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code: code.to_string(), message: message.into(), hint: hint.into() }
    }
}

/// Queue of the jobs that are scripts, which only workers take whose operator allows foreign code.
pub const SCRIPTS: &str = "script";

/// What a job does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobTask {
    /// It makes one recording and keeps its snapshot.
    #[default]
    Record,
    /// It searches for the largest batch that fits the GPU, with one recording for each batch that it tries.
    Fit,
    /// It tries remedies, with one recording for each, and finds what makes the config fit the GPU.
    Fix,
    /// It records each combination of the ranges in the config's `sweep` table.
    Sweep,
    /// It runs a Python script on virtual GPUs, where a worker's operator allows that, and keeps its snapshot.
    Script,
}

impl JobTask {
    pub const ALL: [Self; 5] = [Self::Record, Self::Fit, Self::Fix, Self::Sweep, Self::Script];

    /// Returns the word in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Fit => "fit",
            Self::Fix => "fix",
            Self::Sweep => "sweep",
            Self::Script => "script",
        }
    }

    /// Returns true if it makes one recording, whose snapshot is kept.
    pub const fn is_one(self) -> bool {
        matches!(self, Self::Record | Self::Script)
    }

    /// Parses a task from its word in JSON.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|task| task.word() == word)
    }
}

/// One recording of a job that makes several, which has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Recorded {
    /// What distinguishes it from the others: `batch 8`, `with checkpoint`, or `card t4-16gb, batch 8`.
    pub label: String,
    /// Number of recordings that have ended so far, with this one.
    pub done: u64,
    /// Number of recordings of a sweep; `null` for a search, which does not know it in advance.
    pub total: Option<u64>,
    /// Highest bytes of segments; `null` if the recording failed.
    pub peak_reserved_bytes: Option<u64>,
    /// True if the recording ran out of memory.
    pub out_of_memory: bool,
    /// Reason why the recording failed; `null` if it did not.
    pub failure: Option<String>,
}

/// Result of a job that makes several recordings in a few numbers, for lists of jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskSummary {
    /// Number of recordings.
    pub recordings: u64,
    /// Number of those that did not run out of memory.
    pub fitting: u64,
    /// Number of those that failed for another reason.
    pub failed: u64,
    /// Largest batch that fits; `null` for a sweep, and if none does.
    pub largest_batch: Option<u64>,
    /// Names of the remedies that make it fit; empty if none is needed, if none is enough, and for other tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<String>,
}
