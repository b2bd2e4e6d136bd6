//! Defines the reason why a job failed.

use serde::{Deserialize, Serialize};

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
