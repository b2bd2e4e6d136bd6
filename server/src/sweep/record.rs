//! Recording the combinations of a sweep, a few at a time.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use shared::api::RecorderLine;
use shared::job::{Combination, Sweep};

use crate::Failure;
use crate::config::RecorderConfig;
use crate::repro::{self, Limits, Recording, RecordingFailure, Watcher};

/// What a combination came to.
pub type Outcome = Result<Recording, Box<RecordingFailure>>;

/// How a sweep is recorded.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What each recording may take.
    pub limits: Limits,
    /// How many recordings run at a time; each has a thread that computes, and the memory of its own PyTorch.
    pub at_once: usize,
    /// The folder that snapshots are left in; it is there. `None` leaves none.
    pub keep: Option<PathBuf>,
}

/// Who follows a sweep, from several threads at once, and may end it.
pub trait Audience: Sync {
    /// A combination has been recorded, or could not be.
    fn finished(&self, label: &str, outcome: &Outcome);

    /// Whether the sweep is to be stopped; asked some twenty times a second.
    fn is_cancelled(&self) -> bool;
}

impl Settings {
    /// Where the snapshot of a combination is kept: `batch-8,sequence-512.pickle`.
    pub fn kept(&self, sweep: &Sweep, combination: &Combination) -> Option<PathBuf> {
        // A list of cards has commas and blanks; no name has a slash.
        let name = sweep.label(combination).replace(", ", ",").replace([' ', ':', '/'], "-");
        Some(self.keep.as_ref()?.join(format!("{name}.pickle")))
    }
}

/// Records every combination, and returns what became of each, in their order.
///
/// A recording that fails does not stop the others.
///
/// # Errors
///
/// The sweep was cancelled, or nothing can be written to the temporary folder.
pub fn record_all(
    config: &RecorderConfig,
    sweep: &Sweep,
    settings: &Settings,
    audience: &dyn Audience,
) -> Result<Vec<Outcome>, Failure> {
    let scratch = scratch()?;
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
                // A large sweep would fill the disk; where it fails, the folder goes at the end.
                let _ = std::fs::remove_file(&output);
            }
            audience.finished(&sweep.label(combination), &outcome);
            *outcomes[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        }
    };
    std::thread::scope(|scope| (0..settings.at_once.max(1)).for_each(|_| drop(scope.spawn(work))));
    if audience.is_cancelled() {
        return Err(Failure::new("the sweep was cancelled", "start it again for the whole table"));
    }
    let outcome = |slot: Mutex<Option<Outcome>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(outcomes.into_iter().filter_map(outcome).collect())
}

/// A folder for snapshots that nobody keeps.
pub(super) fn scratch() -> Result<tempfile::TempDir, Failure> {
    tempfile::Builder::new().prefix("snapscope-").tempdir().map_err(|error| {
        Failure::new(
            format!("nothing can be written in the temporary folder: {error}"),
            "make room there, or name another folder in TMPDIR",
        )
    })
}

/// Stops a recording when the sweep is to stop.
pub(super) struct Cancellation<'a>(pub(super) &'a dyn Audience);

impl Watcher for Cancellation<'_> {
    fn line(&mut self, _: &RecorderLine) {}

    fn is_cancelled(&mut self) -> bool {
        self.0.is_cancelled()
    }
}
