//! Texts and numbers of the curve of a file that is being read, or of which a part is chosen.

use crate::ask::{PartOrder, PreviewDevice};
use crate::draw::span::Span;
use crate::draw::ticks::byte_ticks;
use shared::base::format;
use std::fmt::Write as _;
use std::ops::Range;

/// Width of a plot in units of its path.
pub const WIDTH: f64 = 1000.0;
/// Height of a plot in units of its path.
pub const HEIGHT: f64 = 100.0;

/// Maximum number of byte labels.
const TICKS: f64 = 5.0;

/// Maximum number of proposed events; a page opens these in about a second.
const MOST_PROPOSED_EVENTS: u64 = 1_000_000;

/// The curve, ready to be drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreviewPlot {
    /// Area of the live bytes, as an SVG path.
    pub area: String,
    /// Byte labels with their heights, in units of the path from the top.
    pub ticks: Vec<(f64, String)>,
}

/// Draws the curve of a device; `share` is the part of its events that has been read.
///
/// The live bytes before the trace are known only at its end; until then the lowest point is put on the axis.
pub fn preview_plot(device: &PreviewDevice, share: f64) -> PreviewPlot {
    let first = device.first_bytes as i64;
    let bytes = || device.highest_bytes.iter().map(|&bytes| first.saturating_add(bytes));
    let ground = bytes().min().unwrap_or(0).min(0);
    let highest = bytes().max().unwrap_or(0);
    let top = ((highest - ground) as f64 * 1.06).max(1.0);
    let y = |bytes: f64| HEIGHT * (1.0 - bytes / top);
    let count = device.highest_bytes.len().max(1);
    let moments = (device.events + 1) as f64;
    let x = |bucket: usize| {
        let moment = (bucket as u64 * device.bucket_moments) as f64;
        (moment / moments).min(1.0) * share.clamp(0.0, 1.0) * WIDTH
    };
    let mut area = format!("M0 {HEIGHT}");
    for (bucket, bytes) in bytes().enumerate() {
        let _ = write!(area, "L{:.2} {:.2}H{:.2}", x(bucket), y((bytes - ground) as f64), x(bucket + 1));
    }
    let _ = write!(area, "L{:.2} {HEIGHT}Z", x(count));
    let ticks = byte_ticks(Span::new(0.0, top), top / TICKS).into_iter().map(|tick| (y(tick.value), tick.label));
    let ticks = ticks.filter(|(height, _)| (HEIGHT * 0.06..HEIGHT * 0.99).contains(height)).collect();
    PreviewPlot { area, ticks }
}

/// A predefined choice of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// The last events.
    Last,
    /// Events around the peak, 3/4 of them before it.
    Peak,
    All,
}

/// Returns the number of events to propose: a power of ten, at most 1/4 of the device's events but at least one.
pub fn proposed_events(device: &PreviewDevice) -> u64 {
    10_u64.pow((device.events / 4).max(1).ilog10()).min(MOST_PROPOSED_EVENTS).min(device.events)
}

impl Preset {
    /// Returns the chosen range in a device, with the given number of events.
    pub fn range(self, device: &PreviewDevice, events: u64) -> Range<u64> {
        let (total, events) = (device.events, events.min(device.events));
        match self {
            Self::Last => total - events..total,
            Self::Peak => {
                let start = device.peak_moment.saturating_sub(events / 4 * 3).min(total - events);
                start..start + events
            }
            Self::All => 0..total,
        }
    }
}

/// Describes a range.
///
/// Returns an error, as a sentence without its full stop, if the range cannot be opened.
pub fn range_text(device: &PreviewDevice, range: &Range<u64>) -> Result<String, String> {
    let total = device.events;
    if range.start >= range.end {
        return Err("The first event must be before the last event".to_owned());
    }
    if range.end > total {
        return Err(format!("GPU {} has only {}", device.index, format::counted(total, "event")));
    }
    let peak = device
        .highest_in(range.clone())
        .map_or_else(String::new, |peak| format!(", up to {} live", format::bytes(peak)));
    let has_peak = if (range.start..=range.end).contains(&device.peak_moment) { ", including the peak" } else { "" };
    Ok(format!("{} of {}{peak}{has_peak}", format::count(range.end - range.start), format::counted(total, "event")))
}

pub fn order(device: &PreviewDevice, range: &Range<u64>) -> PartOrder {
    PartOrder { device: device.index, start: range.start, end: range.end }
}

/// Returns the range between two places of the plot, in `0.0..=1.0` from the left.
pub fn dragged(device: &PreviewDevice, from: f64, to: f64) -> Range<u64> {
    let event = |place: f64| (place.clamp(0.0, 1.0) * device.events as f64).round() as u64;
    let (start, end) = (event(from.min(to)), event(from.max(to)));
    start..end.max((start + 1).min(device.events))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device() -> PreviewDevice {
        PreviewDevice {
            index: 1,
            events: 99,
            bucket_moments: 25,
            first_bytes: 10 << 20,
            highest_bytes: vec![0, 30 << 20, -(5 << 20), 10 << 20],
            peak_moment: 40,
        }
    }

    #[test]
    fn a_part_of_the_width_is_drawn() {
        let whole = preview_plot(&device(), 1.0);
        assert!(whole.area.starts_with("M0 100L0.00 76.42H250.00L250.00 5.66H500.00"), "{}", whole.area);
        assert!(whole.area.ends_with("H1000.00L1000.00 100Z"), "{}", whole.area);
        let half = preview_plot(&device(), 0.5);
        assert!(half.area.ends_with("H500.00L500.00 100Z"), "{}", half.area);
        assert!(whole.ticks.len() >= 2);
    }

    #[test]
    fn bytes_below_the_first_moment_stand_on_the_axis() {
        let unknown = PreviewDevice { first_bytes: 0, ..device() };
        assert!(preview_plot(&unknown, 1.0).area.contains(" 100.00H"), "{}", preview_plot(&unknown, 1.0).area);
    }

    #[test]
    fn a_round_number_of_events_is_proposed() {
        let of = |events| proposed_events(&PreviewDevice { events, ..PreviewDevice::default() });
        let proposed = [0, 1, 9, 40, 399_999, 1_000_000, 10_000_000, 90_000_000].map(of);
        assert_eq!(proposed, [0, 1, 1, 10, 10_000, 100_000, 1_000_000, 1_000_000]);
    }

    #[test]
    fn presets_stay_within_the_trace() {
        assert_eq!(Preset::Last.range(&device(), 10), 89..99);
        assert_eq!(Preset::Peak.range(&device(), 20), 25..45);
        assert_eq!(Preset::Peak.range(&device(), 500), 0..99);
        assert_eq!(Preset::All.range(&device(), 1), 0..99);
    }

    #[test]
    fn ranges_are_told_or_refused() {
        assert_eq!(
            range_text(&device(), &(30..60)).unwrap(),
            "30 of 99 events, up to 40.0 MiB live, including the peak"
        );
        assert_eq!(range_text(&device(), &(60..70)).unwrap(), "10 of 99 events, up to 5.00 MiB live");
        assert!(range_text(&device(), &(60..60)).unwrap_err().contains("before the last"));
        assert_eq!(range_text(&device(), &(60..160)).unwrap_err(), "GPU 1 has only 99 events");
    }

    #[test]
    fn a_drag_is_a_range_in_either_direction() {
        assert_eq!(dragged(&device(), 0.75, 0.25), 25..74);
        assert_eq!(dragged(&device(), 2.0, 0.5), 50..99);
        assert_eq!(dragged(&device(), 0.5, 0.5), 50..51);
    }
}
