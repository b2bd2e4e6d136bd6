//! What a worker may do.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use shared::base::format::bytes;

use crate::repro::Limits;

/// What a worker may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerSettings {
    /// The kinds of devices whose jobs it takes.
    pub slots: Vec<Slots>,
    /// What one recording may take.
    pub limits: Limits,
    /// Where recordings are made and uploads arrive, before they go to the store.
    pub scratch: PathBuf,
    /// How long nothing may be heard of a worker before its jobs go to others.
    pub lease: Duration,
    /// How long running jobs may go on after a signal to stop, before they are put back.
    pub grace: Duration,
}

/// How many jobs at once a kind of device takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slots {
    /// `virtual`, or a device such as `cuda:0`.
    pub kind: String,
    /// So many.
    pub jobs: usize,
}

impl fmt::Display for WorkerSettings {
    /// One line a setting.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let jobs: Vec<_> = self.slots.iter().map(|slots| format!("{}={}", slots.kind, slots.jobs)).collect();
        let jobs = if jobs.is_empty() { "none here".to_owned() } else { jobs.join(", ") };
        writeln!(f, "jobs at once: {jobs}")?;
        writeln!(f, "job time: {} s", self.limits.time.as_secs_f64())?;
        writeln!(f, "job memory: {}", bytes(self.limits.memory_bytes))?;
        writeln!(f, "lease: {} s", self.lease.as_secs_f64())?;
        writeln!(f, "grace: {} s", self.grace.as_secs_f64())
    }
}
