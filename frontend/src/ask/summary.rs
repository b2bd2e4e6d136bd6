//! Defines the summary of a file, and the figures, steps and phases of its devices.

use super::part::PartPlace;
use serde::{Deserialize, Serialize};
use shared::analysis::{Phase, PhaseBasis, StepSource};
use shared::report::Summary;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileSummary {
    /// Container and encoding in words, such as `pickle protocol 4 in gzip`.
    pub format: String,
    /// GPUs in the order of their index, then pinned host memory if the file has any.
    pub devices: Vec<DeviceOutline>,
    pub unique_frames: u64,
    /// Number of distinct stacks with at least one frame.
    pub unique_stacks: u64,
    /// Number of entries of `external_annotations`.
    pub annotations: u64,
    /// Irregularities of the file, worst first; [`Report::Notices`](super::Report) replaces them by the complete list.
    pub notices: Vec<Notice>,
    /// Settings of the allocator, in the order of the file.
    pub settings: Vec<SettingText>,
}

impl FileSummary {
    /// Returns the position of the device to show first.
    ///
    /// Devices that ran out of memory come first, then those with events, then GPUs before host memory, then those with
    /// the higher peak. Of equal devices the first is taken.
    pub fn first_device(&self) -> u32 {
        let rank = |device: &DeviceOutline| {
            let has_events = device.events > 0;
            (device.is_out_of_memory, has_events, device.index >= 0, device.peak_bytes.max(device.reserved_bytes))
        };
        // `max_by_key` returns the last of equal elements, so that the order is reversed.
        let first = (0..self.devices.len()).rev().max_by_key(|&position| rank(&self.devices[position]));
        first.unwrap_or(0) as u32
    }

    /// Returns the position of the device with a CUDA index, 0 if there is none.
    pub fn position_of(&self, index: i64) -> u32 {
        self.devices.iter().position(|device| device.index == index).unwrap_or(0) as u32
    }

    /// Returns true if only a part of the file's events is open.
    pub fn is_part(&self) -> bool {
        self.devices.iter().any(|device| device.part.is_some())
    }
}

/// Properties of a device that do not require its lifetimes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceOutline {
    /// CUDA index, -1 for pinned host memory.
    pub index: i64,
    pub events: u64,
    /// Number of segments at the end.
    pub segments: u64,
    /// Reserved bytes at the end.
    pub reserved_bytes: u64,
    /// True if an event is an out-of-memory error; always false in a file with a single device.
    pub is_out_of_memory: bool,
    /// Highest live bytes, computed from the events alone; 0 in a file with a single device.
    pub peak_bytes: u64,
    /// Position of the events in the whole trace, if only a part of it is open.
    pub part: Option<PartPlace>,
}

/// Figures of one device, for the timeline and the page's header line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceFigures {
    /// Position in [`FileSummary::devices`].
    pub device: u32,
    pub summary: Summary,
    pub has_times: bool,
    /// Microseconds from the first to the last event, `None` without times.
    pub duration_us: Option<u64>,
    /// End of the event axis: moments `0..=events` cover `0..events + 1`.
    pub end_events: f64,
    /// End of the time axis in microseconds since the first event; 0 without times.
    pub end_us: f64,
    /// Number of lifetimes, including those from before the trace.
    pub allocations: u64,
    /// First moment with the highest live bytes.
    pub peak_moment: u32,
    /// Time of that moment in microseconds since the first event.
    pub peak_us: Option<u64>,
}

/// Irregularity of a readable file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Stable name in kebab-case.
    pub code: String,
    /// `info`, `warning` or `error`.
    pub severity: String,
    pub count: u64,
    /// CUDA index of the device that it concerns, `None` for the whole file.
    pub device: Option<i64>,
    /// Explanation and remedy.
    pub message: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingText {
    pub name: String,
    /// Value as Python prints it.
    pub value: String,
}

/// Steps and phases of one device, and how they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    /// Position of the device.
    pub device: u32,
    /// Evidence by which the steps were found.
    pub steps_basis: StepSource,
    /// Steps in their order; they do not overlap.
    pub steps: Vec<PartSpan>,
    /// Evidence from which the phases were inferred.
    pub phases_basis: PhaseBasis,
    /// Phases in their order, without unknown ones; empty if annotations name them.
    pub phases: Vec<(Phase, PartSpan)>,
}

/// Part of a trace on both axes: the events after `start_moment` up to `end_moment`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartSpan {
    /// Moment before its first event.
    pub start_moment: u32,
    /// Moment after its last event.
    pub end_moment: u32,
    /// Time of its first event in microseconds since that of the trace, 0 without times.
    pub start_us: u64,
    /// Time of the first event after it in microseconds, 0 without times.
    pub end_us: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(events: u64, reserved_bytes: u64) -> DeviceOutline {
        DeviceOutline { events, reserved_bytes, ..DeviceOutline::default() }
    }

    #[track_caller]
    fn check(devices: &[DeviceOutline], first: u32) {
        assert_eq!(FileSummary { devices: devices.to_vec(), ..FileSummary::default() }.first_device(), first);
    }

    #[test]
    fn the_first_device_has_something_to_show() {
        check(&[], 0);
        check(&[outline(0, 9), outline(3, 1), outline(9, 1)], 1);
        check(&[outline(0, 1), outline(0, 5), outline(0, 5)], 1);
    }

    #[test]
    fn the_first_device_is_the_one_with_the_error_or_the_highest_peak() {
        let peak = |peak_bytes| DeviceOutline { peak_bytes, ..outline(4, 1) };
        let failed = |peak_bytes| DeviceOutline { is_out_of_memory: true, ..peak(peak_bytes) };
        check(&[peak(3), peak(8), peak(8)], 1);
        check(&[peak(8), failed(2), failed(7), peak(9)], 2);
        check(&[peak(1), DeviceOutline { index: -1, ..peak(9) }], 0);
    }
}
