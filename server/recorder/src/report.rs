//! Output of the recorder: lines on standard output, and the snapshot file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use shared::api::{Progress, RecorderLine, Written};

use crate::history;
use crate::place::{Phase, lock};
use crate::shim;

/// Shortest time between two lines of progress.
const BETWEEN_PROGRESS: Duration = Duration::from_millis(50);

/// Position of the run, for threads that report it.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// Step under way, from 0; `None` while the model is built.
    pub step: Option<u64>,
    pub phase: Phase,
    /// Number of completed steps.
    pub steps_done: u64,
}

static NOW: Mutex<Now> = Mutex::new(Now { step: None, phase: Phase::Setup, steps_done: 0 });

/// Held while a file is written, so that two threads never write the same file at once.
static WRITING: Mutex<()> = Mutex::new(());

impl Now {
    /// Returns the current position of the run.
    pub fn get() -> Self {
        *lock(&NOW)
    }

    /// Changes the current position of the run.
    pub fn update(change: impl FnOnce(&mut Self)) {
        change(&mut lock(&NOW));
    }
}

/// Reporter of a run's progress.
#[derive(Debug)]
pub struct Reporter {
    device: u32,
    output: PathBuf,
    last_progress: Option<Instant>,
}

impl Reporter {
    /// Creates a reporter for a device that writes snapshots to `output`.
    pub fn new(device: u32, output: &Path) -> Self {
        Self { device, output: output.to_owned(), last_progress: None }
    }

    /// Returns the path of the snapshot.
    pub fn output(&self) -> &Path {
        &self.output
    }

    /// Prints a line and ignores failures, because the snapshot matters even if nobody reads the output.
    pub fn say(line: &RecorderLine) {
        let mut stdout = io::stdout().lock();
        let _ = serde_json::to_writer(&mut stdout, line);
        let _ = stdout.write_all(b"\n");
        let _ = stdout.flush();
    }

    /// Prints the current position, unless the last such line is less than 50 ms ago.
    pub fn progress(&mut self) {
        if self.last_progress.is_some_and(|last| last.elapsed() < BETWEEN_PROGRESS) {
            return;
        }
        self.last_progress = Some(Instant::now());
        let Ok(statistics) = shim::statistics(self.device) else { return };
        let now = Now::get();
        Self::say(&RecorderLine::Progress(Progress {
            step: now.step,
            phase: now.phase.to_string(),
            live_bytes: statistics.live.cast_unsigned(),
            reserved_bytes: statistics.reserved.cast_unsigned(),
        }));
    }

    /// Replaces the snapshot file atomically and prints a line about it.
    ///
    /// A reader sees either the old file or the new one.
    pub fn write(&self, partial: bool) -> io::Result<()> {
        let _writing = lock(&WRITING);
        let mut beside = self.output.as_os_str().to_owned();
        beside.push(".part");
        let mut file = BufWriter::new(File::create(&beside)?);
        history::write(&mut file)?;
        file.into_inner()?;
        self.take(Path::new(&beside), partial)
    }

    /// Makes a snapshot that was written beside the output the output, and prints a line about it.
    pub fn take(&self, written: &Path, partial: bool) -> io::Result<()> {
        fs::rename(written, &self.output)?;
        Self::say(&RecorderLine::Snapshot(Written { steps: Now::get().steps_done, partial }));
        Ok(())
    }
}
