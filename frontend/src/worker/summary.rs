//! What a worker says about a whole file and about each of its devices.

use super::part_data::PartPlace;
use serde::{Deserialize, Serialize};

/// A decoded file in a few figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileSummary {
    /// The container and the encoding in words, such as `gzip, pickle protocol 4`.
    pub format: String,
    /// The GPUs in the order of their index, then pinned host memory if the file has any.
    pub devices: Vec<DeviceOutline>,
    /// Distinct frames.
    pub unique_frames: u64,
    /// Distinct stacks with at least one frame.
    pub unique_stacks: u64,
    /// Entries of `external_annotations`.
    pub annotations: u64,
    /// What was odd but readable, worst first; [`Report::Notices`](super::Report) completes it.
    pub notices: Vec<Notice>,
    /// The allocator's settings in the order of the file.
    pub settings: Vec<SettingText>,
}

impl FileSummary {
    /// The device to show first, by position.
    ///
    /// It is the first GPU that ran out of memory, or else the one with the highest peak. A device without events comes
    /// after those with events, and host memory after all GPUs.
    pub fn first_device(&self) -> u32 {
        let rank = |device: &DeviceOutline| {
            let has_events = device.events > 0;
            (device.is_out_of_memory, has_events, device.index >= 0, device.peak_bytes.max(device.reserved_bytes))
        };
        // Of equal ones the last is taken, so they are looked at from the end.
        let first = (0..self.devices.len()).rev().max_by_key(|&position| rank(&self.devices[position]));
        first.unwrap_or(0) as u32
    }

    /// Returns the position of the device with a CUDA index, 0 where there is none.
    pub fn position_of(&self, index: i64) -> u32 {
        self.devices.iter().position(|device| device.index == index).unwrap_or(0) as u32
    }

    /// Whether only some of the file's events are open.
    pub fn is_part(&self) -> bool {
        self.devices.iter().any(|device| device.part.is_some())
    }
}

/// What is known of a device without looking at its lifetimes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceOutline {
    /// The CUDA index, -1 for pinned host memory.
    pub index: i64,
    /// Its events.
    pub events: u64,
    /// Its segments at the end.
    pub segments: u64,
    /// Its reserved bytes at the end.
    pub reserved_bytes: u64,
    /// Whether one of its events is an out-of-memory error; told only of a file with several devices.
    pub is_out_of_memory: bool,
    /// The highest live bytes, as its events alone tell them; 0 in a file with one device.
    pub peak_bytes: u64,
    /// Where its events lie, if they are a part of a longer trace.
    pub part: Option<PartPlace>,
}

/// The figures of one device; the timeline and the page's header line are made from them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceFigures {
    /// Position in [`FileSummary::devices`].
    pub device: u32,
    /// The CUDA index, -1 for pinned host memory.
    pub index: i64,
    /// Events.
    pub events: u64,
    /// Events of each action that occurs, by the action's name in files.
    pub actions: Vec<(String, u64)>,
    /// Whether the events have times.
    pub has_times: bool,
    /// Microseconds from the first to the last event, `None` without times.
    pub duration_us: Option<u64>,
    /// Where the event axis ends: moments `0..=events` cover `0..events + 1`.
    pub end_events: f64,
    /// Where the time axis ends, in microseconds since the first event; 0 without times.
    pub end_us: f64,
    /// Lifetimes, those from before the trace included.
    pub allocations: u64,
    /// Frees whose `alloc` is not in the trace.
    pub unmatched_frees: u64,
    /// Live bytes before the first event.
    pub initial_bytes: u64,
    /// The highest live bytes.
    pub peak_live_bytes: u64,
    /// The first moment at which live bytes are highest.
    pub peak_moment: u32,
    /// The same in microseconds since the first event.
    pub peak_us: Option<u64>,
    /// Live bytes after the last event.
    pub end_live_bytes: u64,
    /// The highest reserved bytes.
    pub peak_reserved_bytes: u64,
    /// Segments at the end.
    pub segments: u64,
    /// Blocks at the end.
    pub blocks: u64,
    /// Bytes of segments at the end.
    pub reserved_bytes: u64,
    /// Rounded bytes of blocks in use at the end.
    pub allocated_bytes: u64,
    /// The same plus pending frees.
    pub active_bytes: u64,
}

/// What was odd in a readable file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// A stable name in kebab-case.
    pub code: String,
    /// `info`, `warning` or `error`.
    pub severity: String,
    /// How often it was met.
    pub count: u64,
    /// The CUDA index of the device that it is about, `None` for all of the file.
    pub device: Option<i64>,
    /// What it means and what to do.
    pub message: String,
}

/// One allocator setting in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingText {
    /// The name in the file.
    pub name: String,
    /// The value as Python prints it.
    pub value: String,
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
