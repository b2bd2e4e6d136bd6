//! Texts and numbers of the progress of reading a file, and of the curve of a file that is read or of which a part is
//! chosen.

use crate::ask::PreviewDevice;
use crate::draw::chart::{Axis, Chart, Room};
use crate::draw::{Font, Op, Rect, Sketch, Theme, crisp};
use crate::state::Loading;
use shared::base::format;
use std::ops::Range;

/// Room around the plot, that of the timeline in which the curve ends.
const ROOM: Room = Room { left: 74.0, top: 6.0, right: 12.0, bottom: 24.0 };

/// Maximum number of proposed events; a page opens these in about a second.
const MOST_PROPOSED_EVENTS: u64 = 1_000_000;

/// Draws the curve of a device, with the chosen events; `share` is the part of its events that has been read.
///
/// The live bytes before the trace are known only at its end; until then the lowest point is put on the axis.
pub fn preview(
    device: &PreviewDevice,
    share: f64,
    chosen: Option<&Range<u64>>,
    size: (f64, f64),
    theme: &Theme,
) -> Sketch {
    let first = device.first_bytes as i64;
    let bytes = || device.highest_bytes.iter().map(|&bytes| first.saturating_add(bytes));
    let ground = bytes().min().unwrap_or(0).min(0);
    let moments = (device.events + 1) as f64;
    let x = |bucket: usize| ((bucket as u64 * device.bucket_moments) as f64 / moments).min(1.0) * share.clamp(0.0, 1.0);
    let values = bytes().enumerate().map(|(bucket, bytes)| (x(bucket), bytes.saturating_sub(ground) as f64));
    let chart = Chart {
        x: Axis::bare(),
        y: Axis::bytes(bytes().max().unwrap_or(0).abs_diff(ground)),
        room: ROOM,
        font: Font::LABEL,
        curves: Vec::new(),
    };
    let mut plotted = chart.plotted(size, theme);
    plotted.fill_columns(values, x(device.highest_bytes.len().max(1)), theme.live.with_alpha(0.35));
    if let Some(chosen) = chosen {
        let place = |event: u64| plotted.at((event as f64 / device.events.max(1) as f64, 0.0)).0;
        let (left, right) = (place(chosen.start), place(chosen.end));
        let rect = Rect { x: left, width: (right - left).max(1.0), ..plotted.plot };
        let edge = |x: f64| Op::line([(crisp(x), rect.y), (crisp(x), rect.bottom())], 1.0, theme.accent);
        plotted.ops.push(Op::Fill { rect, radius: 0.0, color: theme.accent.with_alpha(0.22) });
        plotted.ops.extend([edge(left), edge(right)]);
    }
    Sketch { ops: plotted.ops, width: size.0, height: size.1 }
}

/// Converts a fraction of the element's width to a fraction of the plot's, which may lie outside of it.
pub fn share_of_plot(share: f64, width: f64) -> f64 {
    (share * width - ROOM.left) / (width - ROOM.left - ROOM.right).max(1.0)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
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

/// Returns the range between two places of the plot, in `0.0..=1.0` from the left.
pub fn dragged(device: &PreviewDevice, from: f64, to: f64) -> Range<u64> {
    let event = |place: f64| (place.clamp(0.0, 1.0) * device.events as f64).round() as u64;
    let (start, end) = (event(from.min(to)), event(from.max(to)));
    start..end.max((start + 1).min(device.events))
}

#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Finished share; `None` while the length is unknown.
    pub share: Option<f64>,
    /// Bytes, and speed and remaining time once known.
    pub text: String,
    /// Text for a screen reader, in whole tens of percent so that it is not read out all the time.
    pub spoken: String,
}

/// Time before which a speed would be a guess, in milliseconds.
const SHORTEST_MS: f64 = 250.0;

pub fn progress(loading: &Loading) -> Progress {
    let Loading { seen_bytes, total_bytes, is_waiting, began_ms, now_ms, .. } = *loading;
    if is_waiting {
        let text = "Waiting for another file to be read".to_owned();
        return Progress { share: Some(0.0), spoken: text.clone(), text };
    }
    let share = (total_bytes > 0).then(|| (seen_bytes as f64 / total_bytes as f64).min(1.0));
    let seen = format::bytes(seen_bytes);
    let mut text = match total_bytes {
        0 if seen_bytes == 0 => "Loading the decoder".to_owned(),
        0 => seen,
        _ if seen_bytes >= total_bytes && !loading.is_survey => format!("{seen} read, processing allocations"),
        _ => format!("{seen} of {}", format::bytes(total_bytes)),
    };
    let elapsed_ms = now_ms - began_ms;
    if elapsed_ms >= SHORTEST_MS && seen_bytes > 0 {
        let per_second = seen_bytes as f64 / elapsed_ms * 1000.0;
        text.push_str(&format!(", {}/s", format::bytes(per_second as u64)));
        let left_s = total_bytes.saturating_sub(seen_bytes) as f64 / per_second;
        if left_s >= 1.0 {
            text.push_str(&format!(", {left_s:.0} s left"));
        }
    }
    let spoken = match share {
        Some(share) => format!("{} % read", (share * 10.0).floor() * 10.0),
        None => "Reading".to_owned(),
    };
    Progress { share, text, spoken }
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

    /// Returns the left edges, right edges and heights of the columns in a plot of 400 by 100 pixels.
    fn columns(device: &PreviewDevice, share: f64) -> Vec<(f64, f64, f64)> {
        let size = (ROOM.left + 400.0 + ROOM.right, ROOM.top + 100.0 + ROOM.bottom);
        let sketch = preview(device, share, None, size, &Theme::light());
        let boxes =
            sketch.ops.into_iter().find_map(|op| if let Op::Boxes { boxes, .. } = op { Some(boxes) } else { None });
        let column = |rect: Rect| (rect.x - ROOM.left, rect.right() - ROOM.left, rect.height.round());
        boxes.unwrap().into_iter().map(column).collect()
    }

    #[test]
    fn a_part_of_the_width_is_drawn_from_the_lowest_point() {
        let heights = [24.0, 94.0, 12.0, 47.0];
        let whole = (0..4).map(|bucket| f64::from(bucket) * 100.0).zip(heights);
        assert!(columns(&device(), 1.0).into_iter().eq(whole.map(|(left, height)| (left, left + 100.0, height))));
        let half = columns(&device(), 0.5);
        assert_eq!((half[0], half[3]), ((0.0, 50.0, 24.0), (150.0, 200.0, 47.0)));
        let unknown = PreviewDevice { first_bytes: 0, ..device() };
        let lowest = columns(&unknown, 1.0).iter().map(|(_, _, height)| *height).reduce(f64::min);
        assert_eq!(lowest, Some(0.0));
    }

    #[test]
    fn the_chosen_events_are_marked_where_the_pointer_chose_them() {
        let size = (ROOM.left + 400.0 + ROOM.right, 130.0);
        let sketch = preview(&device(), 1.0, Some(&(0..99)), size, &Theme::dark());
        let fill = sketch.ops.iter().find_map(|op| if let Op::Fill { rect, .. } = op { Some(*rect) } else { None });
        let rect = fill.unwrap();
        assert_eq!((rect.x, rect.right()), (ROOM.left, ROOM.left + 400.0));
        assert_eq!(share_of_plot(ROOM.left / size.0, size.0), 0.0);
        assert_eq!(share_of_plot((ROOM.left + 400.0) / size.0, size.0), 1.0);
    }

    #[test]
    fn choices_of_events_stay_within_the_trace() {
        let of = |events| proposed_events(&PreviewDevice { events, ..PreviewDevice::default() });
        let proposed = [0, 1, 9, 40, 399_999, 1_000_000, 10_000_000, 90_000_000].map(of);
        assert_eq!(proposed, [0, 1, 1, 10, 10_000, 100_000, 1_000_000, 1_000_000]);
        assert_eq!(Preset::Last.range(&device(), 10), 89..99);
        assert_eq!(Preset::Peak.range(&device(), 20), 25..45);
        assert_eq!(Preset::Peak.range(&device(), 500), 0..99);
        assert_eq!(Preset::All.range(&device(), 1), 0..99);
    }

    #[test]
    fn ranges_are_told_or_refused() {
        let peak = "30 of 99 events, up to 40.0 MiB live, including the peak";
        assert_eq!(range_text(&device(), &(30..60)).unwrap(), peak);
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

    #[test]
    fn progress_says_bytes_and_speed() {
        let check = |seen_bytes: u64, total_bytes: u64, elapsed_ms: f64, text: &str| {
            let (began_ms, now_ms) = (100.0, 100.0 + elapsed_ms);
            let loading = Loading { seen_bytes, total_bytes, began_ms, now_ms, ..Loading::default() };
            assert_eq!(progress(&loading).text, text);
        };
        check(0, 0, 0.0, "Loading the decoder");
        check(1 << 20, 0, 0.0, "1.00 MiB");
        check(1 << 20, 4 << 20, 100.0, "1.00 MiB of 4.00 MiB");
        check(1 << 20, 4 << 20, 500.0, "1.00 MiB of 4.00 MiB, 2.00 MiB/s, 2 s left");
        check(4 << 20, 4 << 20, 1000.0, "4.00 MiB read, processing allocations, 4.00 MiB/s");
        let loading = Loading { is_waiting: true, ..Loading::default() };
        assert_eq!(progress(&loading).text, "Waiting for another file to be read");
        let loading = Loading { seen_bytes: 57, total_bytes: 100, ..Loading::default() };
        assert_eq!(progress(&loading).spoken, "50 % read");
    }
}
