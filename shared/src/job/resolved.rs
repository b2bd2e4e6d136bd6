//! A resolved job: a training, and the config that says all of it.

use std::ops::Deref;

use super::raw::RawJob;
use super::training::Training;

/// A recording to make: valid, complete, and within the limits.
///
/// Only [`RawJob::resolve`] makes jobs, so that the config always resolves to the same job; to change one, change its
/// config.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    training: Training,
    config: RawJob,
}

impl Job {
    pub(super) const fn new(training: Training, config: RawJob) -> Self {
        Self { training, config }
    }

    /// Returns the job as a config with every key written out.
    pub fn to_raw(&self) -> RawJob {
        self.config.clone()
    }

    /// Returns the job as the JSON document that the recorder reads; it resolves to the same job.
    pub fn to_json(&self) -> String {
        self.config.to_json()
    }
}

impl Deref for Job {
    type Target = Training;

    fn deref(&self) -> &Training {
        &self.training
    }
}
