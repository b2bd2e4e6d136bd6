//! Texts and numbers of the rows below the What-if curves: bytes reserved beyond live bytes, and stalls.
//!
//! Both rows use the units of the curves, [`WIDTH`] across and [`HEIGHT`] up, so that simultaneous events are aligned
//! vertically.

use super::plot::{HEIGHT, WIDTH, stepped, ticks};
use crate::ask::{ReplayData, WhatIfColumn};
use shared::base::format;
use std::fmt::Write as _;
use std::ops::Range;

/// Height of each of the two lanes of stalls, in units of the paths.
const LANE: f64 = 46.0;
/// Minimum height of a bar, in units of the paths.
const LEAST_BAR: f64 = 9.0;
/// Number of columns by which an arrow key moves or extends the chosen range, and that it chooses at first.
const STEP: usize = 8;

/// Both rows as SVG paths, ready to be drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// Bytes reserved beyond live bytes in the recording.
    pub recorded: String,
    /// Bytes reserved beyond live bytes in the replay.
    pub replayed: String,
    /// Byte labels with their heights, in units of the paths from the top.
    pub ticks: Vec<(f64, String)>,
    /// A bar for each column in which the recording stalls, in the upper lane.
    pub recorded_calls: String,
    /// A bar for each column in which the replay stalls, in the lower lane.
    pub replayed_calls: String,
    /// A bar for each column in which the replay releases its whole cache.
    pub retries: String,
    /// A bar for each column in which the replay collects garbage.
    pub collections: String,
    /// A line for each column in which the recording runs out of memory, in the upper lane.
    pub recorded_ooms: String,
    /// A line for each column in which the replay runs out of memory, in the lower lane.
    pub replayed_ooms: String,
}

/// Draws the rows of a replay.
pub fn course(data: &ReplayData) -> Course {
    let columns = &data.columns;
    let highest = |column: &WhatIfColumn| column.recorded_beyond_bytes.max(column.replayed_beyond_bytes);
    let top = (columns.iter().map(highest).max().unwrap_or(0) as f64 * 1.06).max(1.0);
    let y = |bytes: f64| HEIGHT * (1.0 - bytes / top);
    let most = columns.iter().map(|column| column.recorded_calls.max(column.replayed_calls)).max().unwrap_or(0);
    let lane = |floor: f64, count: fn(&WhatIfColumn) -> u64| bars(columns, floor, most, count);
    let full = |floor: f64, count: fn(&WhatIfColumn) -> u64| bars(columns, floor, 0, count);
    Course {
        recorded: stepped(columns.iter().map(|column| y(column.recorded_beyond_bytes as f64))),
        replayed: stepped(columns.iter().map(|column| y(column.replayed_beyond_bytes as f64))),
        ticks: ticks(top, 2.0, y),
        recorded_calls: lane(LANE, |column| column.recorded_calls),
        replayed_calls: lane(HEIGHT, |column| column.replayed_calls),
        retries: full(HEIGHT, |column| column.retries),
        collections: full(HEIGHT, |column| column.collections),
        recorded_ooms: full(LANE, |column| column.recorded_ooms),
        replayed_ooms: full(HEIGHT, |column| column.replayed_ooms),
    }
}

/// Draws a line up from the floor of its lane for each column with a count above 0.
///
/// The height is proportional to the square root of the count, so that one call is visible next to a hundred. If `most`
/// is 0, each line is as high as the lane.
fn bars(columns: &[WhatIfColumn], floor: f64, most: u64, count: fn(&WhatIfColumn) -> u64) -> String {
    let step = WIDTH / columns.len().max(1) as f64;
    let mut path = String::new();
    for (index, column) in columns.iter().enumerate().filter(|(_, column)| count(column) > 0) {
        let share = if most == 0 { 1.0 } else { (count(column) as f64 / most as f64).sqrt() };
        let top = floor - (LANE * share).max(LEAST_BAR);
        let _ = write!(path, "M{:.1} {floor}V{top:.1}", (index as f64 + 0.5) * step);
    }
    path
}

/// Returns the chosen range of columns after a key has moved or extended it.
///
/// The result is `None` for a key without effect, and `Some(None)` if all events are chosen.
pub fn moved(part: Option<Range<usize>>, columns: usize, key: &str, extends: bool) -> Option<Option<Range<usize>>> {
    let Some(Range { start, end }) = part else {
        let width = STEP.min(columns);
        return match key {
            "ArrowRight" | "Home" => Some(Some(0..width)),
            "ArrowLeft" | "End" => Some(Some(columns - width..columns)),
            _ => None,
        };
    };
    let width = end - start;
    let part = match (key, extends) {
        ("ArrowRight", true) => start..(end + STEP).min(columns),
        ("ArrowLeft", true) => start..end.saturating_sub(STEP).max(start + 1),
        ("ArrowRight", false) => (start + STEP).min(columns - width)..(end + STEP).min(columns),
        ("ArrowLeft", false) => start.saturating_sub(STEP)..start.saturating_sub(STEP) + width,
        ("Home", _) => 0..width,
        ("End", _) => columns - width..columns,
        ("Escape", _) => return Some(None),
        _ => return None,
    };
    Some(Some(part))
}

/// Describes the stalls and the fragmentation within a range of columns, or within all events.
pub fn reading(data: &ReplayData, part: Option<&Range<usize>>) -> String {
    let columns = data.columns.len();
    let range = part.cloned().unwrap_or(0..columns);
    let Some(shown) = data.columns.get(range.clone()).filter(|shown| !shown.is_empty()) else { return String::new() };
    let first = |column: usize| (column as u64 * data.events).div_ceil(columns as u64);
    let events = match part {
        None => format!("All {}", format::counted(data.events, "event")),
        Some(_) => {
            let last = first(range.end).saturating_sub(1).max(first(range.start));
            format!("Events {} to {}", format::count(first(range.start)), format::count(last))
        }
    };
    let sum = |count: fn(&WhatIfColumn) -> u64| shown.iter().map(count).sum::<u64>();
    let highest = |bytes: fn(&WhatIfColumn) -> u64| format::bytes(shown.iter().map(bytes).max().unwrap_or(0));
    let mut text = format!(
        "{events}: {} recorded, {} replayed · reserved minus live at most {} recorded, {} replayed",
        format::counted(sum(|column| column.recorded_calls), "stall"),
        format::count(sum(|column| column.replayed_calls)),
        highest(|column| column.recorded_beyond_bytes),
        highest(|column| column.replayed_beyond_bytes),
    );
    for (count, what) in [
        (sum(|column| column.retries), "cache released"),
        (sum(|column| column.collections), "garbage collected"),
        (sum(|column| column.recorded_ooms), "out of memory in the recording"),
        (sum(|column| column.replayed_ooms), "out of memory in the replay"),
    ] {
        if count > 0 {
            let _ = write!(text, " · {what} {}", format::counted(count, "time"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> ReplayData {
        let column = |recorded: u64, replayed: u64, calls: (u64, u64)| WhatIfColumn {
            recorded_beyond_bytes: recorded << 20,
            replayed_beyond_bytes: replayed << 20,
            recorded_calls: calls.0,
            replayed_calls: calls.1,
            ..WhatIfColumn::default()
        };
        let mut columns = vec![column(50, 0, (4, 1)), column(100, 10, (0, 0)), column(100, 20, (1, 16))];
        columns.push(WhatIfColumn { retries: 1, replayed_ooms: 2, ..column(40, 40, (0, 2)) });
        ReplayData { columns, events: 42, ..ReplayData::default() }
    }

    #[test]
    fn rows_stand_below_the_curves() {
        let rows = course(&data());
        assert_eq!(rows.recorded, "M0 52.83H250.0V5.66H750.0V62.26H1000");
        assert_eq!(rows.recorded_calls, "M125.0 46V23.0M625.0 46V34.5");
        assert_eq!(rows.replayed_calls, "M125.0 100V88.5M625.0 100V54.0M875.0 100V83.7");
        assert_eq!((rows.retries.as_str(), rows.collections.as_str()), ("M875.0 100V54.0", ""));
        assert_eq!((rows.recorded_ooms.as_str(), rows.replayed_ooms.as_str()), ("", "M875.0 100V54.0"));
        assert_eq!(
            course(&ReplayData::default()),
            Course { ticks: course(&ReplayData::default()).ticks, ..Course::default() }
        );
    }

    #[test]
    fn a_part_is_read_out() {
        let all = reading(&data(), None);
        assert!(
            all.starts_with("All 42 events: 5 stalls recorded, 19 replayed · reserved minus live at most 100 MiB"),
            "{all}"
        );
        assert!(all.ends_with("cache released 1 time · out of memory in the replay 2 times"), "{all}");
        let part = reading(&data(), Some(&(0..2)));
        assert!(part.starts_with("Events 0 to 20: 4 stalls recorded, 1 replayed"), "{part}");
        assert!(part.ends_with("at most 100 MiB recorded, 10.0 MiB replayed"), "{part}");
        assert_eq!(reading(&ReplayData::default(), None), "");
    }

    #[test]
    fn keys_move_the_part_within_the_events() {
        let press = |part: Option<Range<usize>>, key: &str, extends: bool| moved(part, 20, key, extends);
        assert_eq!(press(None, "ArrowRight", false), Some(Some(0..8)));
        assert_eq!(press(None, "ArrowLeft", false), Some(Some(12..20)));
        assert_eq!(press(Some(8..16), "ArrowRight", false), Some(Some(12..20)));
        assert_eq!(press(Some(4..12), "ArrowLeft", false), Some(Some(0..8)));
        assert_eq!(press(Some(4..12), "ArrowRight", true), Some(Some(4..20)));
        assert_eq!(press(Some(4..12), "ArrowLeft", true), Some(Some(4..5)));
        assert_eq!(press(Some(4..12), "Escape", false), Some(None));
        assert_eq!(press(Some(4..12), "a", false), None);
        assert_eq!(moved(None, 3, "ArrowRight", false), Some(Some(0..3)));
    }
}
