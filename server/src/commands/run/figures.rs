//! Reads the figures of a run's snapshot.

use std::path::Path;

use crate::snapshot_file::Opened;

/// Figures that only the trace has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Figures {
    /// Events of all devices.
    pub(super) events: u64,
    /// Highest requested bytes of live tensors, on the device where they are highest.
    pub(super) peak_live_bytes: u64,
}

/// Reads a snapshot; `None` if there is none, or if it was cut off.
pub(super) fn read(path: &str) -> Option<Figures> {
    let opened = Opened::read(Path::new(path)).ok()?;
    let events = opened.trace.devices.iter().map(|device| device.events.len() as u64).sum();
    let peak_live_bytes = opened.timelines.iter().map(|timeline| timeline.live_peak().1).max().unwrap_or(0);
    Some(Figures { events, peak_live_bytes })
}
