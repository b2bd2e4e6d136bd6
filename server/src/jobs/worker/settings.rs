//! Defines the settings of a worker.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use shared::base::format::bytes;

use crate::recording::repro::Limits;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerSettings {
    /// Number of simultaneous jobs for each kind of device.
    pub slots: Vec<Slots>,
    pub limits: Limits,
    /// Folder for recordings and uploads before they are stored.
    pub scratch: PathBuf,
    /// Time without a sign of life after which a worker's jobs are given to others.
    pub lease: Duration,
    /// Time for which running jobs may continue after a signal to stop, before they are given back.
    pub grace: Duration,
}

/// Number of simultaneous jobs for a kind of device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slots {
    /// `virtual`, or a device such as `cuda:0`.
    pub kind: String,
    pub jobs: usize,
}

impl fmt::Display for WorkerSettings {
    /// Writes one line per setting.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let jobs: Vec<_> = self.slots.iter().map(|slots| format!("{}={}", slots.kind, slots.jobs)).collect();
        let jobs = if jobs.is_empty() { "none here".to_owned() } else { jobs.join(", ") };
        writeln!(f, "simultaneous jobs: {jobs}")?;
        writeln!(f, "job time: {} s", self.limits.time.as_secs_f64())?;
        writeln!(f, "job memory: {}", bytes(self.limits.memory_bytes))?;
        writeln!(f, "lease: {} s", self.lease.as_secs_f64())?;
        writeln!(f, "grace: {} s", self.grace.as_secs_f64())
    }
}
