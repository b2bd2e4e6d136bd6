//! Reads an uploaded snapshot for its figures, in a process with limits.
//!
//! Compressed, little can be read for a long time: so what a file unpacks to is bounded as well, several are read at
//! once, and small files have a line of their own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use shared::analysis::Timeline;
use shared::api::SnapshotDigest;
use shared::import::Importer;
use shared::trace::{Device, Trace};
use tokio::process::Command;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::commands::open;
pub use crate::decoding::DecodeError as DigestError;
use crate::decoding::{self, Allowance};
use crate::failure::Failure;

/// The command of the process; people have no use for it.
pub const DIGEST_COMMAND: &str = "digest";

/// What the process may take: memory for some ten million events, and the time to read them.
const ALLOWANCE: Allowance = Allowance { memory_bytes: 2 << 30, seconds: 60 };

/// What a file may unpack to: so many times its size, and so much beyond that. Recordings unpack to 40 times at most.
const MOST_UNPACKED_TIMES: u64 = 100;
const MOST_UNPACKED_APART: u64 = 1 << 30;

/// Files of so many bytes have a line of their own: none of them waits for one that takes a minute.
const MOST_SMALL_BYTES: u64 = 8 << 20;

/// Files that may wait in each line: the last of them is to hear something within minutes.
const MOST_SMALL_WAITING: usize = 128;
const MOST_LARGE_WAITING: usize = 16;

/// Points of a curve: twice the pixels of a preview would not show more.
const POINTS: u32 = 600;

/// Makes digests, some at a time.
#[derive(Debug)]
pub struct Digester {
    program: PathBuf,
    small: Line,
    large: Line,
}

/// Where files wait to be read.
#[derive(Debug)]
struct Line {
    /// For each file that waits or is read.
    places: Semaphore,
    /// For each that is read.
    turns: Semaphore,
}

impl Line {
    fn new(turns: usize, waiting: usize) -> Self {
        Self { places: Semaphore::new(turns + waiting), turns: Semaphore::new(turns) }
    }
}

impl Digester {
    /// A digester that runs this binary, `snapscope`, on half of the processors: twice at least, four times at most.
    pub fn new(program: PathBuf) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let turns = (processors / 4).clamp(1, 2);
        Self { program, small: Line::new(turns, MOST_SMALL_WAITING), large: Line::new(turns, MOST_LARGE_WAITING) }
    }

    /// A place in the line for a file of so many bytes, until it is dropped; `None` where too many wait already.
    pub fn line_up(&self, bytes: u64) -> Option<SemaphorePermit<'_>> {
        self.line(bytes).places.try_acquire().ok()
    }

    fn line(&self, bytes: u64) -> &Line {
        if bytes <= MOST_SMALL_BYTES { &self.small } else { &self.large }
    }

    /// The digest of a file, once it is its turn.
    ///
    /// # Errors
    ///
    /// It is no snapshot, or too much of one.
    pub async fn digest(&self, file: &Path) -> Result<SnapshotDigest, DigestError> {
        let failed = |error: &dyn std::fmt::Display| DigestError::Failed(error.to_string());
        let bytes = tokio::fs::metadata(file).await.map_err(|error| failed(&error))?.len();
        let _turn = self.line(bytes).turns.acquire().await.map_err(|error| failed(&error))?;
        let command = decoding::command(&self.program, DIGEST_COMMAND, file);
        let output = Command::from(command).kill_on_drop(true).output();
        // The limit on its processor time ends it sooner, unless the machine is busy.
        let output = tokio::time::timeout(Duration::from_secs(2 * ALLOWANCE.seconds), output).await;
        let output = output.map_err(|_| DigestError::TooMuch)?.map_err(|error| failed(&error))?;
        decoding::answer(&output)
    }
}

/// What the process does: limits itself, reads the file, and returns the digest as JSON.
///
/// # Errors
///
/// The file is no snapshot.
pub fn print_digest(file: &Path) -> Result<String, Failure> {
    ALLOWANCE.hold(file);
    // A file that is not there is told by what opens it.
    let bytes = std::fs::metadata(file).map_or(0, |file| file.len());
    let most_bytes = bytes.saturating_mul(MOST_UNPACKED_TIMES).saturating_add(MOST_UNPACKED_APART);
    let trace = open::import_by(Importer::new().at_most(most_bytes), file, "the file")?;
    Ok(serde_json::to_string(&digest(&trace)).expect("plain data can be written"))
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
