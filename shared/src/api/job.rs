//! Reproduction jobs over HTTP.

use serde::{Deserialize, Serialize};

use super::{ErrorBody, OutOfMemory, Progress, RecordingCurve, RecordingReport};

/// A request for a recording: the body of `POST /api/v1/jobs`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct JobRequest {
    /// The training config in TOML, YAML or JSON, or the `config.json` of Hugging Face.
    pub config: String,
    /// The name of the config's file, whose end tells the format; otherwise the content does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_name: Option<String>,
    /// The `TrainingArguments` of Hugging Face's config, in JSON or YAML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training_args: Option<String>,
    /// Virtual cards instead of the config's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<String>,
    /// A real GPU instead of the config's cards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Optimizer steps instead of the config's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Samples of a micro batch instead of the config's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// Tokens of a sample instead of the config's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// Higher ones first, from 0 to 9.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
}

/// Where a job is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It waits for a worker.
    Queued,
    /// A worker has it.
    Running,
    /// There is a snapshot.
    Finished,
    /// There is none, and an error says why.
    Failed,
    /// Somebody wanted its end.
    Cancelled,
}

impl JobState {
    /// All of them, in the order of a life.
    pub const ALL: [Self; 5] = [Self::Queued, Self::Running, Self::Finished, Self::Failed, Self::Cancelled];

    /// The word in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The state with this word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }

    /// Whether nothing will happen to it any more.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Failed | Self::Cancelled)
    }
}

/// What a job that is over came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobOutcome {
    /// It took all of its steps, and there is a snapshot.
    Completed,
    /// Memory ran out before that, and there is a snapshot until then.
    OutOfMemory,
    /// There is no snapshot, and an error says why.
    Failed,
    /// Somebody wanted its end.
    Cancelled,
}

impl JobOutcome {
    /// What a job in a state came to, with the report of its recording if there is one; `None` until it is over.
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

/// A change of a job: the body of `PATCH /api/v1/jobs/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct JobChange {
    /// What people are to call it, up to [`MOST_NAME`](Self::MOST_NAME) characters on one line.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 100))]
    pub name: String,
}

impl JobChange {
    /// The most characters of a name.
    pub const MOST_NAME: usize = 100;
}

/// A job: the answer of `GET /api/v1/jobs/{id}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobResource {
    /// Its name in addresses.
    pub id: String,
    /// Where it is in its life.
    pub state: JobState,
    /// What it came to, once it is over.
    pub outcome: Option<JobOutcome>,
    /// What people call it.
    pub name: String,
    /// What it runs on: `virtual`, or a device such as `cuda:0`.
    pub kind: String,
    /// Its cards as on the command line, or its device.
    pub card: String,
    /// Higher ones first.
    pub priority: u8,
    /// Optimizer steps that were asked for.
    pub steps: u64,
    /// When it was submitted, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it was started last.
    pub started_ms: Option<i64>,
    /// When it ended.
    pub finished_ms: Option<i64>,
    /// How often it was started.
    pub attempts: u32,
    /// How many jobs are before it, while it waits.
    pub before: Option<u64>,
    /// Where it is, while it runs.
    pub progress: Option<Progress>,
    /// What the recording came to.
    pub result: Option<RecordingReport>,
    /// Why it failed.
    pub error: Option<ErrorBody>,
    /// Bytes of its snapshot, compressed; at `/api/v1/jobs/{id}/snapshot`.
    pub snapshot_bytes: Option<u64>,
}

/// A job with what its own page shows beside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobDetails {
    /// The job.
    #[serde(flatten)]
    pub job: JobResource,
    /// The config as it was submitted.
    pub source: String,
    /// What became of each foreign key.
    pub notes: Vec<KeyNote>,
    /// The recorder's last lines, once it has ended.
    pub log: Vec<String>,
    /// Total memory of each of its cards, in bytes; `None` where they differ, and for a device that nothing ran on yet.
    #[serde(default)]
    pub capacity_bytes: Option<u64>,
    /// Memory over the recording, from its snapshot; `None` without one, and for jobs that an older version recorded.
    #[serde(default)]
    pub curve: Option<RecordingCurve>,
}

/// What became of a key of Hugging Face's config.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KeyNote {
    /// The key, such as `n_embd`.
    pub key: String,
    /// Whether it means something here.
    pub understood: bool,
    /// What it became, or why it was ignored; without a full stop.
    pub note: String,
}

/// A part of the list of jobs: the answer of `GET /api/v1/jobs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobList {
    /// The latest first.
    pub jobs: Vec<JobResource>,
    /// The `before` of the next part, if there is one.
    pub next: Option<String>,
}

/// Something that happened to a job: the data of a server-sent event, whose id is its number in the job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum JobEvent {
    /// It is in another state.
    State {
        /// Which.
        state: JobState,
    },
    /// What it runs on is known.
    Started {
        /// The name that CUDA gives the device.
        device: String,
        /// Total memory of the device, in bytes.
        memory_bytes: u64,
        /// Parameters of the model, counted once where they are shared.
        parameters: u64,
        /// Optimizer steps that the run will take.
        steps: u64,
    },
    /// Where it is.
    Progress(Progress),
    /// Something a person should know.
    Message {
        /// A sentence without the full stop.
        text: String,
    },
    /// Memory ran out: the recording ends with that.
    OutOfMemory(OutOfMemory),
}
