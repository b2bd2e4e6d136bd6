//! Rows below the What-if curves: bytes reserved beyond live bytes, and stalls.
//!
//! Both rows have the same room on the left as the curves, so that simultaneous events are aligned vertically.

use super::plot::line;
use crate::ask::{ReplayData, WhatIfColumn};
use crate::draw::chart::{Axis, Chart, Curve};
use crate::draw::curves::ROOM;
use crate::draw::{Color, Font, Op, Rect, Sketch, Theme};
use shared::base::format;
use std::fmt::Write as _;
use std::ops::Range;

const LANE: f64 = 0.46;
/// Minimum height of a bar, as a fraction of the row.
const LEAST_BAR: f64 = 0.09;
/// Number of columns by which an arrow key moves or extends the chosen range, and that it chooses at first.
const STEP: usize = 8;

struct Bars {
    /// Bottom of the lane, as a fraction of the row.
    floor: f64,
    count: fn(&WhatIfColumn) -> u64,
    /// True if a bar is as high as the square root of its count, so that one call is visible next to a hundred.
    is_scaled: bool,
    color: Color,
    width: f64,
}

/// Returns the kinds of bars: what the recording does in the upper lane, what the replay does in the lower one.
fn kinds(theme: &Theme) -> [Bars; 6] {
    let scaled = |floor, count, color| Bars { floor, count, is_scaled: true, color, width: 1.5 };
    let full = |floor, count, color, width| Bars { floor, count, is_scaled: false, color, width };
    [
        scaled(LANE, |column| column.recorded.calls, theme.text_muted),
        scaled(1.0, |column| column.replayed.calls, theme.reserved),
        full(1.0, |column| column.replayed.collections, theme.ok, 2.0),
        full(1.0, |column| column.replayed.retries, theme.accent, 2.0),
        full(LANE, |column| column.recorded.ooms, theme.oom, 2.5),
        full(1.0, |column| column.replayed.ooms, theme.oom, 2.5),
    ]
}

/// Draws the bytes reserved beyond the live bytes, with the chosen range of columns.
pub fn fragmentation(data: &ReplayData, part: Option<&Range<usize>>, size: (f64, f64), theme: &Theme) -> Sketch {
    let highest = |column: &WhatIfColumn| column.recorded.beyond_live_bytes.max(column.replayed.beyond_live_bytes);
    let chart = Chart {
        x: Axis::bare(),
        y: Axis::bytes(data.columns.iter().map(highest).max().unwrap_or(0)),
        room: ROOM,
        font: Font::LABEL,
        curves: vec![
            Curve::line(line(data, |column| column.recorded.beyond_live_bytes), theme.text_muted, 1.5).dashed(),
            Curve::line(line(data, |column| column.replayed.beyond_live_bytes), theme.reserved, 1.5),
        ],
    };
    let plotted = chart.plotted(size, theme);
    let mut ops: Vec<Op> = marked(part, data.columns.len(), plotted.plot, theme).into_iter().collect();
    ops.extend(plotted.ops);
    Sketch { ops, width: size.0, height: size.1 }
}

/// Draws a bar for each column in which something stalls, with the chosen range of columns.
pub fn stalls(data: &ReplayData, part: Option<&Range<usize>>, (width, height): (f64, f64), theme: &Theme) -> Sketch {
    let plot = Rect::new(ROOM.left, 0.0, (width - ROOM.left - ROOM.right).max(1.0), height);
    let columns = &data.columns;
    let most = columns.iter().map(|column| column.recorded.calls.max(column.replayed.calls)).max().unwrap_or(0);
    let mut ops: Vec<Op> = marked(part, columns.len(), plot, theme).into_iter().collect();
    for Bars { floor, count, is_scaled, color, width } in kinds(theme) {
        for (index, column) in columns.iter().enumerate().filter(|(_, column)| count(column) > 0) {
            let share = if is_scaled { (count(column) as f64 / most.max(1) as f64).sqrt() } else { 1.0 };
            let x = plot.x + (index as f64 + 0.5) / columns.len() as f64 * plot.width;
            let top = floor - (LANE * share).max(LEAST_BAR);
            ops.push(Op::line([(x, floor * height), (x, top * height)], width, color));
        }
    }
    let bottom = height - 0.5;
    ops.push(Op::line([(plot.x, bottom), (plot.right(), bottom)], 1.0, theme.grid));
    Sketch { ops, width, height }
}

fn marked(part: Option<&Range<usize>>, columns: usize, plot: Rect, theme: &Theme) -> Option<Op> {
    let x = |column: usize| plot.x + column as f64 / columns.max(1) as f64 * plot.width;
    let part = part?;
    let rect = Rect { x: x(part.start), width: x(part.end) - x(part.start), ..plot };
    Some(Op::Fill { rect, radius: 0.0, color: theme.accent.with_alpha(0.16) })
}

/// Returns the column at a position in CSS pixels in a row of a width; a position beside the plot belongs to its end.
pub fn column_at(x: f64, width: f64, columns: usize) -> Option<usize> {
    let share = (x - ROOM.left) / (width - ROOM.left - ROOM.right).max(1.0);
    (columns > 0).then(|| (share * columns as f64).clamp(0.0, columns as f64 - 1.0) as usize)
}

/// Returns the legend's entries for events that occur: their class and their name.
pub fn occurring(data: &ReplayData) -> Vec<(&'static str, &'static str)> {
    let occurs = |count: fn(&WhatIfColumn) -> u64| data.columns.iter().any(|column| count(column) > 0);
    [
        (occurs(|column| column.replayed.retries), ("what-if-key-retries", "Whole cache released")),
        (occurs(|column| column.replayed.collections), ("what-if-key-collections", "Garbage collected")),
        (occurs(|column| column.recorded.ooms + column.replayed.ooms), ("what-if-key-ooms", "Out of memory")),
    ]
    .into_iter()
    .filter_map(|(occurs, entry)| occurs.then_some(entry))
    .collect()
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
        format::counted(sum(|column| column.recorded.calls), "driver call"),
        format::count(sum(|column| column.replayed.calls)),
        highest(|column| column.recorded.beyond_live_bytes),
        highest(|column| column.replayed.beyond_live_bytes),
    );
    for (count, what) in [
        (sum(|column| column.replayed.retries), "cache released"),
        (sum(|column| column.replayed.collections), "garbage collected"),
        (sum(|column| column.recorded.ooms), "out of memory in the recording"),
        (sum(|column| column.replayed.ooms), "out of memory in the replay"),
    ] {
        if count > 0 {
            let _ = write!(text, " · {what} {}×", format::count(count));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::analysis::{RecordedColumn, ReplayColumn};

    fn data() -> ReplayData {
        let column = |recorded: u64, replayed: u64, calls: (u64, u64)| WhatIfColumn {
            recorded: RecordedColumn { beyond_live_bytes: recorded << 20, calls: calls.0, ..RecordedColumn::default() },
            replayed: ReplayColumn { beyond_live_bytes: replayed << 20, calls: calls.1, ..ReplayColumn::default() },
        };
        let mut columns = vec![column(50, 0, (4, 1)), column(100, 10, (0, 0)), column(100, 20, (1, 16))];
        let mut full = column(40, 40, (0, 2));
        (full.replayed.retries, full.replayed.ooms) = (1, 2);
        columns.push(full);
        ReplayData { columns, events: 42, ..ReplayData::default() }
    }

    fn bars(sketch: &Sketch, color: Color) -> Vec<(f64, f64)> {
        let bar = |op: &Op| match op {
            Op::Line { points, color: drawn, .. } if *drawn == color && points[0].0 == points[1].0 => {
                Some((points[0].0, points[0].1 - points[1].1))
            }
            _ => None,
        };
        sketch.ops.iter().filter_map(bar).collect()
    }

    #[test]
    fn stalls_are_as_high_as_the_root_of_their_count() {
        let theme = Theme::light();
        let sketch = stalls(&data(), None, (ROOM.left + 400.0 + ROOM.right, 100.0), &theme);
        let at = |column: f64| ROOM.left + (column + 0.5) * 100.0;
        let close = |drawn: Vec<(f64, f64)>, expected: &[(f64, f64)]| {
            assert_eq!(drawn.len(), expected.len(), "{drawn:?}");
            for (bar, expected) in drawn.iter().zip(expected) {
                assert!((bar.0 - expected.0).abs() < 1e-6 && (bar.1 - expected.1).abs() < 0.01, "{drawn:?}");
            }
        };
        close(bars(&sketch, theme.text_muted), &[(at(0.0), 23.0), (at(2.0), 11.5)]);
        close(bars(&sketch, theme.reserved), &[(at(0.0), 11.5), (at(2.0), 46.0), (at(3.0), 16.26)]);
        close(bars(&sketch, theme.accent), &[(at(3.0), 46.0)]);
        close(bars(&sketch, theme.ok), &[]);
        close(bars(&sketch, theme.oom), &[(at(3.0), 46.0)]);
        assert_eq!(
            occurring(&data()),
            [("what-if-key-retries", "Whole cache released"), ("what-if-key-ooms", "Out of memory")]
        );
    }

    #[test]
    fn a_part_is_marked_and_pointed_at() {
        let (theme, size) = (Theme::light(), (ROOM.left + 400.0 + ROOM.right, 76.0));
        for sketch in
            [fragmentation(&data(), Some(&(1..3)), size, &theme), stalls(&data(), Some(&(1..3)), size, &theme)]
        {
            let Op::Fill { rect, .. } = &sketch.ops[0] else { panic!("{:?}", sketch.ops[0]) };
            assert_eq!((rect.x, rect.width), (ROOM.left + 100.0, 200.0));
        }
        assert!(!matches!(stalls(&data(), None, size, &theme).ops[0], Op::Fill { .. }));
        let at = |x| column_at(x, ROOM.left + 400.0 + ROOM.right, 4);
        assert_eq!([0.0, ROOM.left, ROOM.left + 150.0, 10_000.0].map(at), [Some(0), Some(0), Some(1), Some(3)]);
        assert_eq!(column_at(5.0, 100.0, 0), None);
    }

    #[test]
    fn a_part_is_read_out() {
        let all = reading(&data(), None);
        assert!(
            all.starts_with(
                "All 42 events: 5 driver calls recorded, 19 replayed · reserved minus live at most 100 MiB"
            ),
            "{all}"
        );
        assert!(all.ends_with("cache released 1× · out of memory in the replay 2×"), "{all}");
        let part = reading(&data(), Some(&(0..2)));
        assert!(part.starts_with("Events 0 to 20: 4 driver calls recorded, 1 replayed"), "{part}");
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
