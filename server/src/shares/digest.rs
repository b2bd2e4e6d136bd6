//! Reads the figures and the findings of an uploaded snapshot in a process with limits.
//!
//! A small compressed file can unpack to a lot of data. Therefore the unpacked size is limited, several files are read
//! in parallel, and small files have their own queue.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use serde::de::DeserializeOwned;
use shared::analysis::{Timeline, studies};
use shared::api::SnapshotDigest;
use shared::import::Importer;
use shared::report::{Diagnosis, DiagnosisConfig, diagnosis};
use shared::trace::{Device, Trace};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::sync::{Semaphore, SemaphorePermit};

pub use crate::decoding::DecodeError as DigestError;
use crate::decoding::{self, Allowance};
use crate::failure::Failure;
use crate::snapshot_file;

/// Hidden subcommands that the process runs.
pub const DIGEST_COMMAND: &str = "digest";
pub const FINDINGS_COMMAND: &str = "findings";

/// Memory of the process, for some ten million events.
const MEMORY_BYTES: u64 = 2 << 30;

/// Processor time for a small file and for a large one, in seconds: ten times as much as recordings need.
const SMALL_SECONDS: u64 = 20;
const LARGE_SECONDS: u64 = 60;

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
    /// Both queues together read files on three quarters of the processors, at least 3 and at most 6 at a time. Small
    /// files have at least two turns, so that one that takes long does not hold up the others.
    pub fn new(program: PathBuf) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let (small, large) = ((processors / 2).clamp(2, 4), (processors / 4).clamp(1, 2));
        Self { program, small: Line::new(small, MOST_SMALL_WAITING), large: Line::new(large, MOST_LARGE_WAITING) }
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
    pub async fn digest(&self, file: &Path, bytes: u64) -> Result<SnapshotDigest, DigestError> {
        let _turn = self.turn(bytes).await?;
        self.run(DIGEST_COMMAND, file, bytes).await
    }

    /// Waits for the turn of a file of this size, so that files are not copied from the store before it.
    ///
    /// The turn ends when the permit is dropped.
    pub async fn turn(&self, bytes: u64) -> Result<SemaphorePermit<'_>, DigestError> {
        self.line(bytes).turns.acquire().await.map_err(|error| DigestError::Failed(error.to_string()))
    }

    /// Diagnoses a file whose turn has come.
    ///
    /// # Errors
    ///
    /// Fails as [`digest`](Self::digest) does.
    pub async fn diagnose(&self, file: &Path, bytes: u64) -> Result<Diagnosis, DigestError> {
        self.run(FINDINGS_COMMAND, file, bytes).await
    }

    async fn run<T: DeserializeOwned>(&self, name: &str, file: &Path, bytes: u64) -> Result<T, DigestError> {
        let failed = |error: &dyn std::fmt::Display| DigestError::Failed(error.to_string());
        let output = output_of(decoding::command(&self.program, name, file));
        // The limit on processor time usually applies earlier, unless the machine is busy.
        let output = tokio::time::timeout(Duration::from_secs(2 * allowance(bytes).seconds), output).await;
        let output = output.map_err(|_| DigestError::TooMuch)?.map_err(|error| failed(&error))?;
        decoding::answer(&output)
    }
}

/// Runs a process and returns its output, of which no more is read than an answer may have.
async fn output_of(command: std::process::Command) -> io::Result<Output> {
    let mut command = Command::from(command);
    let mut child = command.kill_on_drop(true).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) = (start_of(child.stdout.take()), start_of(child.stderr.take()));
    let (stdout, stderr) = tokio::try_join!(stdout, stderr)?;
    Ok(Output { status: child.wait().await?, stdout, stderr })
}

/// Reads the start of an output and closes it, so that the process cannot wait for a reader.
async fn start_of(source: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(source) = source {
        source.take(decoding::MOST_ANSWER_BYTES).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

/// Runs in the process: applies the limits, reads the file and returns the digest as JSON.
pub fn print_digest(file: &Path) -> Result<String, Failure> {
    Ok(serde_json::to_string(&digest(&read(file)?)).expect("plain data can be written"))
}

/// Runs in the process: applies the limits, reads the file and returns its diagnosis as JSON.
pub fn print_findings(file: &Path) -> Result<String, Failure> {
    let trace = read(file)?;
    let timelines: Vec<Timeline> = trace.devices.iter().map(|device| Timeline::new(&trace, device)).collect();
    let devices: Vec<_> = trace.devices.iter().zip(&timelines).collect();
    let found = diagnosis(&trace, &studies(&trace, &devices), &DiagnosisConfig::default());
    Ok(serde_json::to_string(&found).expect("plain data can be written"))
}

/// Returns the limits of the process that reads a file of this size.
fn allowance(bytes: u64) -> Allowance {
    let seconds = if bytes <= MOST_SMALL_BYTES { SMALL_SECONDS } else { LARGE_SECONDS };
    Allowance { memory_bytes: MEMORY_BYTES, seconds }
}

fn read(file: &Path) -> Result<Trace, Failure> {
    // A missing file is reported when it is opened.
    let bytes = std::fs::metadata(file).map_or(0, |file| file.len());
    allowance(bytes).hold(file);
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
