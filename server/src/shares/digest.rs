//! Reads an uploaded snapshot in a process of its own, which may take so much memory and time and no more.
//!
//! The decoder bounds what it takes by what it has read; compressed, little can be read for a long time.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};
use shared::analysis::Timeline;
use shared::api::SnapshotDigest;
use shared::trace::{Device, Trace};
use tokio::process::Command;
use tokio::sync::Semaphore;

use crate::commands::open;
use crate::failure::Failure;

/// The command of the process; people have no use for it.
pub const DIGEST_COMMAND: &str = "digest";

/// What the process may take: memory for some ten million events, and the time to read them.
const MOST_MEMORY_BYTES: u64 = 2 << 30;
const MOST_SECONDS: u64 = 60;

/// Points of a curve: twice the pixels of a preview would not show more.
const POINTS: u32 = 600;

/// Why there is no digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DigestError {
    /// It is no snapshot: why, in a sentence without the full stop.
    NotASnapshot(String),
    /// Reading it takes more than the process may.
    TooMuch,
    /// The process cannot be run.
    Failed(String),
}

/// Makes digests, one after the other.
#[derive(Debug)]
pub struct Digester {
    program: PathBuf,
    turn: Semaphore,
}

impl Digester {
    /// A digester that runs this binary, `snapscope`.
    pub fn new(program: PathBuf) -> Self {
        Self { program, turn: Semaphore::new(1) }
    }

    /// The digest of a file.
    ///
    /// # Errors
    ///
    /// It is no snapshot, or too much of one.
    pub async fn digest(&self, file: &Path) -> Result<SnapshotDigest, DigestError> {
        let failed = |error: &dyn std::fmt::Display| DigestError::Failed(error.to_string());
        let _turn = self.turn.acquire().await.map_err(|error| failed(&error))?;
        let output = Command::new(&self.program)
            .arg(DIGEST_COMMAND)
            .arg(file)
            .env_clear()
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        // The limit on its processor time ends it sooner, unless the machine is busy.
        let output = tokio::time::timeout(Duration::from_secs(2 * MOST_SECONDS), output).await;
        let output = output.map_err(|_| DigestError::TooMuch)?.map_err(|error| failed(&error))?;
        if output.status.success() {
            return serde_json::from_slice(&output.stdout).map_err(|error| failed(&error));
        }
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(code) if code == i32::from(Failure::EXIT_STATUS) => {
                let message = said.lines().next().unwrap_or_default().trim_start_matches("error: ");
                Err(DigestError::NotASnapshot(message.to_owned()))
            }
            // Out of memory a Rust program aborts.
            _ => Err(DigestError::TooMuch),
        }
    }
}

/// What the process does: limits itself, reads the file, and returns the digest as JSON.
///
/// # Errors
///
/// The file is no snapshot.
pub fn print_digest(file: &Path) -> Result<String, Failure> {
    let limit = |resource, most| setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    // Where limits cannot be set, the parent's time still ends it.
    let _ = limit(Resource::As, MOST_MEMORY_BYTES);
    let _ = limit(Resource::Cpu, MOST_SECONDS);
    let _ = limit(Resource::Core, 0);
    let trace = open::import(file, "the file")?;
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
