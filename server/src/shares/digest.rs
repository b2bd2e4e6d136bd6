//! Reads the figures and the findings of an uploaded snapshot in a process with limits.
//!
//! A small compressed file can unpack to a lot of data. Therefore the unpacked size is limited, several files are read
//! in parallel, and small files have their own queue.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use shared::analysis::{Timeline, studies};
use shared::api::SnapshotDigest;
use shared::import::Importer;
use shared::report::{Diagnosis, DiagnosisConfig, diagnosis};
use shared::trace::{Device, Trace};
use tokio::process::Command;
use tokio::sync::{Semaphore, SemaphorePermit};

pub use crate::decoding::DecodeError as DigestError;
use crate::decoding::{self, Allowance};
use crate::failure::Failure;
use crate::snapshot_file;

/// Hidden subcommands that the process runs.
pub const DIGEST_COMMAND: &str = "digest";
pub const FINDINGS_COMMAND: &str = "findings";

/// Limits of the process: memory for some ten million events, and the time to read them.
const ALLOWANCE: Allowance = Allowance { memory_bytes: 2 << 30, seconds: 60 };

/// Maximum unpacked size: 100 times the file size plus 1 GiB. Recordings unpack to at most 40 times their size.
const MOST_UNPACKED_TIMES: u64 = 100;
const MOST_UNPACKED_APART: u64 = 1 << 30;

/// Maximum size of files in the queue for small files, which do not wait for one that takes a minute.
const MOST_SMALL_BYTES: u64 = 8 << 20;

/// Maximum numbers of waiting files per queue; the last of them should be answered within minutes.
const MOST_SMALL_WAITING: usize = 128;
const MOST_LARGE_WAITING: usize = 16;

/// Number of points of a curve; more than two per pixel of the preview would not be visible.
const POINTS: u32 = 600;

/// Makes digests of uploaded files, a limited number at a time.
#[derive(Debug)]
pub struct Digester {
    program: PathBuf,
    small: Line,
    large: Line,
}

/// A queue of files to be read.
#[derive(Debug)]
struct Line {
    /// Permits for files that wait or are being read.
    places: Semaphore,
    /// Permits for files that are being read.
    turns: Semaphore,
}

impl Line {
    fn new(turns: usize, waiting: usize) -> Self {
        Self { places: Semaphore::new(turns + waiting), turns: Semaphore::new(turns) }
    }
}

impl Digester {
    /// Makes a digester that runs the binary `snapscope`.
    ///
    /// Both queues together read files on half of the processors, at least 2 and at most 4 at a time.
    pub fn new(program: PathBuf) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let turns = (processors / 4).clamp(1, 2);
        Self { program, small: Line::new(turns, MOST_SMALL_WAITING), large: Line::new(turns, MOST_LARGE_WAITING) }
    }

    /// Reserves a place in the queue for a file of this size; `None` if the queue is full.
    ///
    /// The place is freed when the permit is dropped.
    pub fn line_up(&self, bytes: u64) -> Option<SemaphorePermit<'_>> {
        self.line(bytes).places.try_acquire().ok()
    }

    fn line(&self, bytes: u64) -> &Line {
        if bytes <= MOST_SMALL_BYTES { &self.small } else { &self.large }
    }

    /// Waits for the file's turn and makes its digest.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is not a snapshot, exceeds the limits, or cannot be read.
    pub async fn digest(&self, file: &Path) -> Result<SnapshotDigest, DigestError> {
        self.run(DIGEST_COMMAND, file).await
    }

    /// Waits for the file's turn and diagnoses it.
    ///
    /// # Errors
    ///
    /// Fails as [`digest`](Self::digest) does.
    pub async fn diagnose(&self, file: &Path) -> Result<Diagnosis, DigestError> {
        self.run(FINDINGS_COMMAND, file).await
    }

    async fn run<T: DeserializeOwned>(&self, name: &str, file: &Path) -> Result<T, DigestError> {
        let failed = |error: &dyn std::fmt::Display| DigestError::Failed(error.to_string());
        let bytes = tokio::fs::metadata(file).await.map_err(|error| failed(&error))?.len();
        let _turn = self.line(bytes).turns.acquire().await.map_err(|error| failed(&error))?;
        let command = decoding::command(&self.program, name, file);
        let output = Command::from(command).kill_on_drop(true).output();
        // The limit on processor time usually applies earlier, unless the machine is busy.
        let output = tokio::time::timeout(Duration::from_secs(2 * ALLOWANCE.seconds), output).await;
        let output = output.map_err(|_| DigestError::TooMuch)?.map_err(|error| failed(&error))?;
        decoding::answer(&output)
    }
}

/// Runs in the process: applies the limits, reads the file and returns the digest as JSON.
///
/// # Errors
///
/// Returns an error if the file is not a snapshot.
pub fn print_digest(file: &Path) -> Result<String, Failure> {
    Ok(serde_json::to_string(&digest(&read(file)?)).expect("plain data can be written"))
}

/// Runs in the process: applies the limits, reads the file and returns its diagnosis as JSON.
///
/// # Errors
///
/// Returns an error if the file is not a snapshot.
pub fn print_findings(file: &Path) -> Result<String, Failure> {
    let trace = read(file)?;
    let timelines: Vec<Timeline> = trace.devices.iter().map(|device| Timeline::new(&trace, device)).collect();
    let devices: Vec<_> = trace.devices.iter().zip(&timelines).collect();
    let found = diagnosis(&trace, &studies(&trace, &devices), &DiagnosisConfig::default());
    Ok(serde_json::to_string(&found).expect("plain data can be written"))
}

fn read(file: &Path) -> Result<Trace, Failure> {
    ALLOWANCE.hold(file);
    // A missing file is reported when it is opened.
    let bytes = std::fs::metadata(file).map_or(0, |file| file.len());
    let most_bytes = bytes.saturating_mul(MOST_UNPACKED_TIMES).saturating_add(MOST_UNPACKED_APART);
    snapshot_file::import_by(Importer::new().at_most(most_bytes), file, "the file")
}

fn digest(trace: &Trace) -> SnapshotDigest {
    let timelines = trace.devices.iter().map(|device| (device, Timeline::new(trace, device)));
    let highest = timelines.max_by_key(|(device, timeline)| (timeline.live_peak().1, std::cmp::Reverse(device.index)));
    let figures = highest.map(|(device, timeline)| of_device(device, &timeline)).unwrap_or_default();
    SnapshotDigest {
        devices: trace.devices.len().try_into().unwrap_or(u32::MAX),
        events: trace.devices.iter().map(|device| device.events.len() as u64).sum(),
        ..figures
    }
}

fn of_device(device: &Device, timeline: &Timeline) -> SnapshotDigest {
    let outline = timeline.outline(POINTS);
    SnapshotDigest {
        device: device.index,
        peak_live_bytes: timeline.live_peak().1,
        peak_reserved_bytes: timeline.reserved_peak().1,
        end_live_bytes: timeline.live_at(timeline.events()),
        live_curve: outline.live_bytes,
        reserved_curve: outline.reserved_bytes,
        ..SnapshotDigest::default()
    }
}
