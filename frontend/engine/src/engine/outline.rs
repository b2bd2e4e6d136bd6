//! Summarizes a file, with the properties of its devices that do not require their lifetimes.
//!
//! The device to show first depends on errors and peaks. Pairing the allocations of all devices would delay the first
//! picture, so that peaks are computed by summing the events: one pass, 2 ns per event.
//!
//! ```text
//! event      alloc 5   alloc 3   free 5   alloc 1
//! sum            5         8        3        4       highest 8
//! live at the end 6, so 2 before the first event, and the peak is 2 + 8
//! ```

use frontend::ask::{DeviceOutline, FileSummary, Notice, PartPlace, SettingText};
use shared::analysis::DistinctStacks;
use shared::base::{Diagnostic, ShortSort, pieces};
use shared::trace::{Action, Container, Device, Encoding, Format, Setting, Trace};
use std::ops::Range;

/// Returns the outline of a device; errors and peaks are computed only if it is one of several.
fn outline(device: &Device, is_alone: bool) -> DeviceOutline {
    let sums = if is_alone { Sums::default() } else { Sums::of(device) };
    DeviceOutline {
        index: device.index,
        events: device.events.len() as u64,
        segments: device.segments.segments.len() as u64,
        reserved_bytes: device.segments.reserved_bytes(),
        is_out_of_memory: sums.ooms > 0,
        peak_bytes: if is_alone { 0 } else { sums.peak_bytes(device) },
        part: device
            .part
            .as_ref()
            .map(|part| PartPlace { first_event: part.first_event.into(), total_events: part.total_events.into() }),
    }
}

/// Current and highest sum of bytes, relative to those before the first event.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    bytes: i64,
    most_bytes: i64,
}

impl Sum {
    fn add(&mut self, bytes: i64) {
        self.bytes += bytes;
        self.most_bytes = self.most_bytes.max(self.bytes);
    }
}

/// Sums over the events of a device.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// Sum in which an allocation ends with `free_completed`.
    completed: Sum,
    /// Sum in which an allocation ends with `free_requested`, as in a trace without any `free_completed`.
    requested: Sum,
    has_completed: bool,
    ooms: u64,
}

impl Sums {
    fn of(device: &Device) -> Self {
        let mut sums = Self::default();
        pieces(device.events.len()).for_each(|events| sums.add(device, events));
        sums
    }

    #[inline(never)]
    fn add(&mut self, device: &Device, events: Range<usize>) {
        let (actions, sizes) = (device.events.actions(), device.events.sizes_bytes());
        for event in events {
            match actions.at(event) {
                Action::Alloc => {
                    let bytes = sizes.at(event) as i64;
                    self.completed.add(bytes);
                    self.requested.add(bytes);
                }
                Action::FreeCompleted => {
                    self.has_completed = true;
                    self.completed.add(-(sizes.at(event) as i64));
                }
                Action::FreeRequested => self.requested.add(-(sizes.at(event) as i64)),
                Action::Oom => self.ooms += 1,
                _ => (),
            }
        }
    }

    fn peak_bytes(&self, device: &Device) -> u64 {
        let sum = if self.has_completed { self.completed } else { self.requested };
        let end_bytes: u64 = device.segments.blocks.iter().map(|block| block.live_bytes()).sum();
        // In an edited file, more memory may be freed than allocated.
        let initial_bytes = (end_bytes as i64).saturating_sub(sum.bytes).max(0);
        initial_bytes.saturating_add(sum.most_bytes) as u64
    }
}

pub(super) fn summary(trace: &Trace) -> FileSummary {
    let is_alone = trace.devices.len() + usize::from(trace.host.is_some()) == 1;
    let distinct = DistinctStacks::of(trace);
    let setting = |(name, value): &(String, Setting)| SettingText { name: name.clone(), value: value.to_string() };
    FileSummary {
        format: format(trace.format),
        devices: trace.devices.iter().chain(&trace.host).map(|device| outline(device, is_alone)).collect(),
        unique_frames: distinct.frames,
        unique_stacks: distinct.stacks,
        annotations: trace.annotations.len() as u64,
        notices: notices(&trace.diagnostics, None),
        settings: trace.settings.entries.iter().map(setting).collect(),
    }
}

fn format(format: Format) -> String {
    let encoding = match format.encoding {
        Encoding::Pickle(protocol) => format!("pickle protocol {protocol}"),
        Encoding::Json => "JSON".to_owned(),
    };
    match format.container {
        Container::Raw => encoding,
        Container::Gzip => format!("{encoding} in gzip"),
        Container::Html => format!("{encoding} in an HTML page"),
    }
}

/// Converts diagnostics to notices, worst first; `device` is the CUDA index of the device that they concern.
pub(super) fn notices(diagnostics: &[Diagnostic], device: Option<i64>) -> Vec<Notice> {
    let notice = |diagnostic: &Diagnostic| Notice {
        code: diagnostic.code.to_owned(),
        severity: diagnostic.severity.name().to_owned(),
        count: diagnostic.count,
        device,
        message: diagnostic.message.clone(),
    };
    let mut notices: Vec<_> = diagnostics.iter().map(notice).collect();
    sort_notices(&mut notices);
    notices
}

/// Sorts notices by severity, worst first.
pub(super) fn sort_notices(notices: &mut [Notice]) {
    let rank = |notice: &Notice| match notice.severity.as_str() {
        "error" => 0,
        "warning" => 1,
        _ => 2,
    };
    notices.short_sort_by_key(rank);
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::analysis::Timeline;
    use shared::trace::text;

    #[track_caller]
    fn check(lines: &str) {
        let trace = text::parse(lines).unwrap();
        for device in &trace.devices {
            let (_, peak) = Timeline::new(&trace, device).live_peak();
            assert_eq!(outline(device, false).peak_bytes, peak, "{lines}");
        }
    }

    #[test]
    fn the_peak_is_that_of_the_timeline() {
        check("alloc a 5\nalloc b 3\nfree_completed a\nalloc c 1\nsegment s 1KiB\nblock b 3\nblock c 1\nblock d 2");
        check("free_completed a 9\nalloc b 3\nsegment s 1KiB\nblock b 3");
        check("alloc a 5\nfree_requested a\nalloc b 7\nsegment s 1KiB\nblock b 7");
        check("segment s 1KiB\nblock b 7");
        check("alloc a 5\ndevice 1\nalloc b 7\nfree_requested b\nalloc c 1\nfree_completed b");
    }

    #[test]
    fn nothing_is_looked_for_in_a_device_alone() {
        let trace = text::parse("alloc a 5\noom 9 free=1").unwrap();
        let device = &trace.devices[0];
        let (alone, one_of_many) = (outline(device, true), outline(device, false));
        assert_eq!((alone.is_out_of_memory, alone.peak_bytes, alone.events), (false, 0, 2));
        assert_eq!((one_of_many.is_out_of_memory, one_of_many.peak_bytes), (true, 5));
    }
}
