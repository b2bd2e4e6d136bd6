//! Reads the figures of a recording's snapshot in a process with limits, so that this process parses none of its bytes.

use std::cmp::Reverse;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use shared::analysis::Timeline;
use shared::api::RecordingCurve;
use shared::base::format::bytes;

use super::Limits;
use super::curve::curve;
use crate::Failure;
use crate::config::RecorderConfig;
use crate::decoding::{self, Allowance, DecodeError};
use crate::snapshot_file;

/// Hidden subcommand that the process runs.
const FIGURES_COMMAND: &str = "figures";

/// Minimum limits of the process: enough for a million events on a busy machine.
const LEAST: Allowance = Allowance { memory_bytes: 1 << 30, seconds: 60 };

/// Figures of a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Figures {
    /// Number of events on all devices.
    pub(super) events: u64,
    /// Peak of requested live bytes, on the device where it is highest.
    pub(super) peak_live_bytes: u64,
    /// Memory over the events of that device.
    pub(super) curve: RecordingCurve,
}

/// The reason why the figures of a snapshot are unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unread {
    pub(super) failure: Failure,
    /// True if the file may still be a snapshot that can be read elsewhere.
    pub(super) is_perhaps_one: bool,
}

impl Figures {
    /// Reads a snapshot in a process that has at least the memory and time of the recording.
    pub(super) fn read(config: &RecorderConfig, limits: &Limits, snapshot: &Path) -> Result<Self, Unread> {
        let allowance = Allowance {
            memory_bytes: limits.memory_bytes.max(LEAST.memory_bytes),
            seconds: limits.time.as_secs().max(LEAST.seconds),
        };
        let mut command = decoding::command(&config.reader, FIGURES_COMMAND, snapshot);
        command.arg(allowance.memory_bytes.to_string()).arg(allowance.seconds.to_string());
        // The limit on processor time usually applies earlier, unless the machine is busy.
        let figures = decoding::run(command, Duration::from_secs(2 * allowance.seconds));
        figures.map_err(|error| unread(&error, config, allowance))
    }
}

fn unread(error: &DecodeError, config: &RecorderConfig, allowance: Allowance) -> Unread {
    let failure = match error {
        DecodeError::NotASnapshot(message) => Failure::new(
            message,
            "check that the disk is not full and that the recorder was built with this program, then record again",
        ),
        DecodeError::TooMuch => Failure::new(
            format!(
                "the recording is too large: reading it takes more than {} of memory or {} s",
                bytes(allowance.memory_bytes),
                allowance.seconds
            ),
            "record fewer steps, or raise the limits on memory and time",
        ),
        DecodeError::Failed(message) => Failure::new(
            format!("the recording cannot be read by {}: {message}", config.reader.display()),
            "check that this program was not moved since it was started",
        ),
    };
    Unread { failure, is_perhaps_one: !matches!(error, DecodeError::NotASnapshot(_)) }
}

/// Runs in the process: applies the limits, reads the file and returns the figures as JSON.
///
/// # Errors
///
/// Returns an error if the file is not a snapshot.
pub fn print_figures(file: &Path, allowance: Allowance) -> Result<String, Failure> {
    allowance.hold(file);
    let trace = snapshot_file::import(file, "the recorder's snapshot")?;
    let timelines = trace.devices.iter().map(|device| (device, Timeline::new(&trace, device)));
    // Of equal devices the first is chosen.
    let highest = timelines.max_by_key(|(device, timeline)| (timeline.live_peak().1, Reverse(device.index)));
    let (peak_live_bytes, curve) = highest
        .map(|(device, timeline)| (timeline.live_peak().1, curve(&trace, device, &timeline)))
        .unwrap_or_default();
    let events = trace.devices.iter().map(|device| device.events.len() as u64).sum();
    Ok(serde_json::to_string(&Figures { events, peak_live_bytes, curve }).expect("plain data can be written"))
}
