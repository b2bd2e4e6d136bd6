//! Records the combinations of a sweep, a few at a time, and converts their outcomes to the form that scripts read.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use shared::api::{RecorderLine, SweepReport, SweepRow};
use shared::job::{Combination, Device, Job, Sweep};

use crate::Failure;
use crate::config::RecorderConfig;
use crate::folder::make_temporary;
use crate::recording::repro::{self, Limits, Recording, RecordingFailure, Watcher};

pub type Outcome = Result<Recording, Box<RecordingFailure>>;

#[derive(Debug, Clone)]
pub struct Settings {
    pub limits: Limits,
    /// Number of simultaneous recordings; each uses one computing thread and the memory of its own PyTorch.
    pub at_once: usize,
    /// Existing folder for the snapshots; `None` to keep none.
    pub keep: Option<PathBuf>,
    /// Folder for snapshots that are not kept; `None` for the system's.
    pub scratch: Option<PathBuf>,
}

/// Observer of a sweep that can stop it; called from several threads.
pub trait Audience: Sync {
    /// Called when a recording has ended or failed.
    fn finished(&self, label: &str, outcome: &Outcome);

    /// Returns true if the sweep is to be stopped; called about twenty times per second.
    fn is_cancelled(&self) -> bool;

    /// Called with the host memory of a running recorder, in bytes.
    fn memory(&self, _bytes: u64) {}
}

impl Settings {
    /// Returns the path of a combination's snapshot: `batch-8,sequence-512.pickle`.
    pub fn kept(&self, sweep: &Sweep, combination: &Combination) -> Option<PathBuf> {
        // A list of cards contains commas and spaces, and a file name must not contain a slash.
        let name = sweep.label(combination).replace(", ", ",").replace([' ', ':', '/'], "-");
        Some(self.keep.as_ref()?.join(format!("{name}.pickle")))
    }
}

/// Records every combination and returns their outcomes in the same order.
///
/// A failed recording does not stop the others.
///
/// # Errors
///
/// Returns an error if the sweep was cancelled or if the temporary folder is not writable.
pub fn record_all(
    config: &RecorderConfig,
    sweep: &Sweep,
    settings: &Settings,
    audience: &dyn Audience,
) -> Result<Vec<Outcome>, Failure> {
    let scratch = scratch(settings.scratch.as_deref())?;
    let next = AtomicUsize::new(0);
    let outcomes: Vec<Mutex<Option<Outcome>>> = sweep.combinations.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while !audience.is_cancelled()
            && let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some(combination) = sweep.combinations.get(index)
        {
            let kept = settings.kept(sweep, combination);
            let output = kept.clone().unwrap_or_else(|| scratch.path().join(format!("{index}.pickle")));
            let outcome = repro::run(config, &combination.job, &settings.limits, &output, &mut Cancellation(audience));
            if kept.is_none() {
                // The snapshots of a large sweep would fill the disk; if this fails, the folder is deleted at the end.
                let _ = std::fs::remove_file(&output);
            }
            audience.finished(&sweep.label(combination), &outcome);
            *outcomes[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        }
    };
    std::thread::scope(|scope| (0..settings.at_once.max(1)).for_each(|_| drop(scope.spawn(work))));
    if audience.is_cancelled() {
        return Err(Failure::new("the recordings were cancelled", "start it again to get the whole table"));
    }
    let outcome = |slot: Mutex<Option<Outcome>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(outcomes.into_iter().filter_map(outcome).collect())
}

/// Makes a temporary folder for snapshots that are not kept.
pub(super) fn scratch(folder: Option<&Path>) -> Result<tempfile::TempDir, Failure> {
    make_temporary("snapscope-", folder).map_err(|error| {
        Failure::new(
            format!("the temporary folder cannot be written: {error}"),
            "free some space there, or set TMPDIR to another folder",
        )
    })
}

/// Stops a recording when its sweep is cancelled.
pub(super) struct Cancellation<'a>(pub(super) &'a dyn Audience);

impl Watcher for Cancellation<'_> {
    fn line(&mut self, _: &RecorderLine) {}

    fn is_cancelled(&mut self) -> bool {
        self.0.is_cancelled()
    }

    fn memory(&mut self, bytes: u64) {
        self.0.memory(bytes);
    }
}

pub fn report(name: &str, sweep: &Sweep, outcomes: &[Outcome]) -> SweepReport {
    let rows = sweep.combinations.iter().zip(outcomes);
    SweepReport {
        name: name.to_owned(),
        axes: sweep.axes.iter().map(|axis| axis.name.to_owned()).collect(),
        rows: rows.map(|(combination, outcome)| row(combination, outcome)).collect(),
    }
}

fn row(Combination { job, .. }: &Combination, outcome: &Outcome) -> SweepRow {
    let raw = job.to_raw();
    SweepRow {
        card: raw.card.or(raw.device).unwrap_or_default(),
        precision: raw.precision.unwrap_or_default(),
        checkpointing: job.checkpointing,
        sequence: raw.sequence,
        batch: job.batch,
        memory_bytes: memory_bytes(job, outcome.as_ref().ok()),
        recording: outcome.as_ref().ok().map(|recording| recording.report()),
        failure: outcome.as_ref().err().map(|failure| failure.message.clone()),
    }
}

/// Returns the total memory of the first card; a real card's is known only from its recording.
pub(super) fn memory_bytes(job: &Job, recording: Option<&Recording>) -> Option<u64> {
    match &job.device {
        Device::Virtual(cards) => cards.0.first().map(|card| card.memory_bytes),
        Device::Cuda(_) => Some(recording?.started.as_ref()?.memory_bytes),
    }
}
