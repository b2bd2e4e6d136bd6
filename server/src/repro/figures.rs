//! What a recording's snapshot adds up to, found out by a process with limits: no byte of a recorder is read here.

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
use crate::commands::open;
use crate::config::RecorderConfig;
use crate::decoding::{self, Allowance, DecodeError};

/// The command of the process; people have no use for it.
const FIGURES_COMMAND: &str = "figures";

/// What the process may take whatever the limits of the recording are: enough for a million events, on a busy machine.
const LEAST: Allowance = Allowance { memory_bytes: 1 << 30, seconds: 60 };

/// What a snapshot adds up to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Figures {
    /// Events of all devices.
    pub(super) events: u64,
    /// Highest requested bytes alive, on the device where they are highest.
    pub(super) peak_live_bytes: u64,
    /// Its memory over its events, on the same device.
    pub(super) curve: RecordingCurve,
}

/// Why a snapshot has no figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unread {
    pub(super) failure: Failure,
    /// Whether it may be a snapshot all the same, which can be read elsewhere.
    pub(super) is_perhaps_one: bool,
}

impl Figures {
    /// Reads a snapshot in a process that may take the memory and the time that its recording may.
    pub(super) fn read(config: &RecorderConfig, limits: &Limits, snapshot: &Path) -> Result<Self, Unread> {
        let allowance = Allowance {
            memory_bytes: limits.memory_bytes.max(LEAST.memory_bytes),
            seconds: limits.time.as_secs().max(LEAST.seconds),
        };
        let mut command = decoding::command(&config.reader, FIGURES_COMMAND, snapshot);
        command.arg(allowance.memory_bytes.to_string()).arg(allowance.seconds.to_string());
        // The limit on its processor time ends it sooner, unless the machine is busy.
        let figures = decoding::run(command, Duration::from_secs(2 * allowance.seconds));
        figures.map_err(|error| unread(&error, config, allowance))
    }
}

fn unread(error: &DecodeError, config: &RecorderConfig, allowance: Allowance) -> Unread {
    let failure = match error {
        DecodeError::NotASnapshot(message) => Failure::new(
            message,
            "check that the disk has room, and that this recorder was built with this program; then record it again",
        ),
        DecodeError::TooMuch => Failure::new(
            format!(
                "the recording is too large to read here: that takes more than {} of memory or {} s",
                bytes(allowance.memory_bytes),
                allowance.seconds
            ),
            "record fewer steps, or allow it more memory and time",
        ),
        DecodeError::Failed(message) => Failure::new(
            format!("the recording cannot be read by {}: {message}", config.reader.display()),
            "check that the program is where it was when this one was started",
        ),
    };
    Unread { failure, is_perhaps_one: !matches!(error, DecodeError::NotASnapshot(_)) }
}

/// What the process does: limits itself, reads the file, and returns the figures as JSON.
///
/// # Errors
///
/// The file is no snapshot.
pub fn print_figures(file: &Path, allowance: Allowance) -> Result<String, Failure> {
    allowance.hold(file);
    let trace = open::import(file, "the recorder's snapshot")?;
    let timelines = trace.devices.iter().map(|device| (device, Timeline::new(&trace, device)));
    // Of equals the first.
    let highest = timelines.max_by_key(|(device, timeline)| (timeline.live_peak().1, Reverse(device.index)));
    let (peak_live_bytes, curve) = highest
        .map(|(device, timeline)| (timeline.live_peak().1, curve(&trace, device, &timeline)))
        .unwrap_or_default();
    let events = trace.devices.iter().map(|device| device.events.len() as u64).sum();
    Ok(serde_json::to_string(&Figures { events, peak_live_bytes, curve }).expect("plain data can be written"))
}
