//! Texts, numbers and drawing of the view of a log.

use crate::draw::{Color, Op, Rect, Sketch, Theme, crisp};
use shared::export::{LOG_ROOM, log_chart, series_color};
use shared::report::{LogCell, LogCurves, LogOwner, LogOwners, LogSpan};

/// First and last time in microseconds.
pub(super) type Range = (i64, i64);

pub(super) fn shifted(curves: &LogCurves, shift_us: i64) -> LogCurves {
    let moved = |us: &i64| us.saturating_add(shift_us);
    let mut shifted = curves.clone();
    shifted.times_us = curves.times_us.iter().map(moved).collect();
    shifted.kills_us = curves.kills_us.iter().map(moved).collect();
    for span in shifted.lanes.iter_mut().flat_map(|lane| &mut lane.spans) {
        let LogSpan { from_us, to_us, .. } = span;
        (*from_us, *to_us) = (moved(from_us), moved(to_us));
    }
    shifted
}

pub(super) fn union(ranges: impl Iterator<Item = Range>) -> Option<Range> {
    ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

pub(super) fn overlap(a: Range, b: Range) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

/// Draws a range of the curves; labels of times count from `start`; `chosen` is a part of it that is being chosen,
/// `hovered` a time under the pointer.
pub(super) fn plot(
    curves: &LogCurves,
    (range, start): (Range, i64),
    chosen: Option<Range>,
    hovered: Option<i64>,
    size: (f64, f64),
    theme: &Theme,
) -> Sketch {
    let since = |us: i64| (us - start) as f64;
    let mut plotted = log_chart(curves, range, start, size, theme);
    let at = |us: i64| crisp(plotted.at((since(us), 0.0)).0);
    let (top, bottom) = (plotted.plot.y, plotted.plot.bottom());
    let chosen = chosen.map(|(from, to)| {
        let rect = Rect { x: at(from), width: at(to) - at(from), ..plotted.plot };
        Op::Fill { rect, radius: 0.0, color: theme.accent.with_alpha(0.22) }
    });
    let hovered = hovered
        .filter(|us| (range.0..=range.1).contains(us))
        .map(|us| Op::line([(at(us), top), (at(us), bottom)], 1.0, theme.crosshair));
    plotted.ops.extend(chosen.into_iter().chain(hovered));
    Sketch { ops: plotted.ops, width: size.0, height: size.1 }
}

pub(super) fn legend(curves: &LogCurves, theme: &Theme) -> Vec<(String, Color)> {
    let color = |series: Option<usize>| series.map_or(theme.oom, |position| series_color(position, theme));
    shared::export::legend(curves).into_iter().map(|(name, series)| (name, color(series))).collect()
}

pub(super) fn place_to_us(range: Range, share: f64, width: f64) -> i64 {
    let share = (share * width - LOG_ROOM.left) / (width - LOG_ROOM.left - LOG_ROOM.right).max(1.0);
    range.0 + (share.clamp(0.0, 1.0) * (range.1 - range.0) as f64).round() as i64
}

pub(super) fn nearest(curves: &LogCurves, us: i64) -> Option<usize> {
    let after = curves.times_us.partition_point(|one| *one < us);
    let candidates = after.saturating_sub(1)..(after + 1).min(curves.times_us.len());
    candidates.min_by_key(|&at| curves.times_us[at].abs_diff(us))
}

/// Returns the range after a key press: `+` and `-` zoom, arrows move, `0` shows everything.
pub(super) fn key_range(key: &str, (from, to): Range, all: Range) -> Option<Range> {
    let (length, middle) = (to - from, from + (to - from) / 2);
    let around = |length: i64| (middle - length / 2, middle - length / 2 + length.max(1));
    let (from, to) = match key {
        "+" | "=" => around(length / 2),
        "-" => around(length.saturating_mul(2)),
        "ArrowLeft" => (from - length / 4, to - length / 4),
        "ArrowRight" => (from + length / 4, to + length / 4),
        "0" | "Home" => all,
        _ => return None,
    };
    let length = (to - from).min(all.1 - all.0);
    let from = from.clamp(all.0, all.1 - length);
    Some((from, from + length))
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Share {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) start: f64,
    pub(super) width: f64,
    pub(super) color: Color,
}

/// Divides a bar of 1,000 units between the owners of a GPU's memory; the free part, which is the last one, is grey.
pub(super) fn shares(owners: &LogOwners, theme: &Theme) -> Vec<Share> {
    let used: u64 = owners.parts.iter().map(|owner| owner.bytes).fold(0, u64::saturating_add);
    let whole = owners.capacity_bytes.max(used).max(1) as f64;
    let mut start = 0.0;
    let share = |(position, LogOwner { name, bytes }): (usize, &LogOwner)| {
        let width = *bytes as f64 / whole * 1000.0;
        let color = match name.as_str() {
            "free" => theme.initial,
            _ => series_color(position, theme),
        };
        let share = Share { name: name.clone(), bytes: *bytes, start, width, color };
        start += width;
        share
    };
    owners.parts.iter().enumerate().map(share).collect()
}

/// Returns true if all cells of a column are figures, with or without a sign, or empty.
pub(super) fn is_of_figures<'a>(mut cells: impl Iterator<Item = &'a LogCell> + Clone) -> bool {
    let is_figure = |cell: &LogCell| match cell {
        LogCell::Text(text) => text.starts_with(['+', '-', '−', '±']),
        _ => true,
    };
    cells.clone().all(is_figure) && cells.any(|cell| *cell != LogCell::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::report::{LogLimit, LogSeries};

    fn curves() -> LogCurves {
        let series =
            |name: &str, gib: [u64; 4]| LogSeries { name: name.into(), bytes: gib.map(|gib| gib << 30).to_vec() };
        LogCurves {
            quantity: "PSS".into(),
            is_stacked: true,
            has_steps: false,
            has_dates: true,
            zone_us: 3_600_000_000,
            has_times: true,
            times_us: vec![1_795_424_700_000_000, 1_795_424_760_000_000, 1_795_424_820_000_000, 1_795_424_880_000_000],
            series: vec![series("train", [4, 4, 4, 4]), series("workers", [0, 1, 2, 3])],
            limit: Some(LogLimit { name: "Memory of the machine".into(), bytes: 16 << 30 }),
            kills_us: vec![1_795_424_820_000_000],
            lanes: Vec::new(),
        }
    }

    #[test]
    fn areas_are_stacked() {
        let curves = curves();
        let sketch = plot(&curves, (curves.whole(), curves.whole().0), None, None, (800.0, 240.0), &Theme::light());
        let dashed = sketch.ops.iter().filter(|op| matches!(op, Op::Line { dashed: true, .. })).count();
        assert_eq!(dashed, 2, "the limit and the killed process");
        let labels: Vec<&str> = { sketch.ops.iter() }
            .filter_map(|op| match op {
                Op::Text { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert!(labels.contains(&"16 GiB") && labels.contains(&"2:30"), "{labels:?}");
    }

    #[test]
    fn a_sample_is_read_out() {
        let curves = curves();
        let at = nearest(&curves, 1_795_424_815_000_000).unwrap();
        assert_eq!(curves.sample_text(at), "2026-11-23 10:07:00: 6.00 GiB (train 4.00 GiB · workers 2.00 GiB)");
        let whole = curves.whole();
        assert_eq!(curves.span_text(whole), "PSS over 3 min 0 s from 2026-11-23 10:05:00, at most 7.00 GiB");
        assert_eq!(place_to_us(whole, 0.0, 800.0), whole.0);
        assert_eq!(place_to_us(whole, 1.0, 800.0), whole.1);
        assert_eq!(nearest(&LogCurves::default(), 5), None);
    }

    #[test]
    fn courses_beside_each_other_are_lines() {
        let lines = LogCurves { is_stacked: false, limit: None, ..curves() };
        let at = nearest(&lines, 1_795_424_880_000_000).unwrap();
        assert_eq!(lines.sample_text(at), "2026-11-23 10:08:00: train 4.00 GiB · workers 3.00 GiB");
        assert!(lines.span_text(lines.whole()).ends_with("at most 4.00 GiB"));
        assert!(overlap((0, 5), (5, 9)) && !overlap((0, 5), (6, 9)) && overlap((3, 4), (0, 9)));
        let later = shifted(&lines, 60_000_000);
        assert_eq!(later.whole().0, lines.whole().0 + 60_000_000);
        assert_eq!(union([lines.whole(), later.whole()].into_iter()), Some((lines.whole().0, later.whole().1)));
    }

    #[test]
    fn keys_stay_within_the_log() {
        let all = (0, 1000);
        assert_eq!(key_range("+", all, all), Some((250, 750)));
        assert_eq!(key_range("ArrowLeft", (100, 600), all), Some((0, 500)));
        assert_eq!(key_range("ArrowRight", (700, 900), all), Some((750, 950)));
        assert_eq!(key_range("-", (250, 750), all), Some(all));
        assert_eq!(key_range("0", (250, 750), all), Some(all));
        assert_eq!(key_range("x", all, all), None);
        assert_eq!(key_range("+", (5, 6), (5, 6)), Some((5, 6)));
    }

    #[test]
    fn a_bar_is_divided_between_owners() {
        let parts =
            [("tensors", 3), ("free", 1)].map(|(name, bytes)| LogOwner { name: name.to_owned(), bytes }).to_vec();
        let owners = LogOwners { title: String::new(), capacity_bytes: 4, parts };
        let shares = shares(&owners, &Theme::dark());
        assert_eq!(
            shares.iter().map(|share| (share.start, share.width)).collect::<Vec<_>>(),
            [(0.0, 750.0), (750.0, 250.0)]
        );
        assert_eq!(shares[1].color, Theme::dark().initial);
    }
}
