//! What a plot shows: the axis that runs along, and a line for each combination of the others.

use shared::api::{RecordingReport, SweepReport, SweepRow};

use crate::sweep::table::value;

/// How far above the highest peak a card's memory may be and still have its line.
///
/// A line higher up would press the peaks flat.
const FAR_ABOVE: u64 = 3;

/// The rows of a sweep, arranged.
pub(super) struct Plot {
    /// The axis along the bottom.
    pub(super) axis: String,
    /// Its values, in order.
    pub(super) values: Vec<String>,
    /// Whether they are numbers.
    pub(super) is_number: bool,
    /// In the order of the table.
    pub(super) lines: Vec<Line>,
    /// One a card.
    pub(super) limits: Vec<Limit>,
}

/// The recordings that differ by nothing but the axis along the bottom.
pub(super) struct Line {
    /// What they have in common; empty for the only line.
    pub(super) label: String,
    /// By value.
    pub(super) points: Vec<Point>,
}

/// A recording.
pub(super) struct Point {
    /// The index of its value on the axis.
    pub(super) value: usize,
    pub(super) recording: RecordingReport,
}

/// What a card holds.
pub(super) struct Limit {
    pub(super) card: String,
    pub(super) memory_bytes: u64,
}

impl Point {
    /// Whether memory ran out.
    pub(super) const fn ran_out(&self) -> bool {
        self.recording.oom.is_some()
    }
}

impl Plot {
    pub(super) fn of(report: &SweepReport) -> Self {
        let axis = axis_along(report);
        let is_number = is_number(&axis);
        let mut values = distinct(report.rows.iter().map(|row| value(row, &axis)));
        if is_number {
            values.sort_by_key(|value| value.parse::<u64>().unwrap_or(0));
        }
        let others = varying(report).filter(|other| *other != axis).collect::<Vec<_>>();
        let label = |row: &SweepRow| others.iter().map(|axis| worded(row, axis)).collect::<Vec<_>>().join(" · ");
        let labels = distinct(report.rows.iter().map(label));
        let line = |wanted: String| {
            let rows = report.rows.iter().filter(|row| label(row) == wanted);
            let point = |row: &SweepRow| {
                let value = values.iter().position(|known| *known == value(row, &axis))?;
                Some(Point { value, recording: row.recording.clone()? })
            };
            let mut points: Vec<_> = rows.filter_map(point).collect();
            points.sort_by_key(|point| point.value);
            Line { label: wanted, points }
        };
        let lines = labels.into_iter().map(line).collect();
        Self { axis, is_number, lines, limits: limits(report), values }
    }

    /// Whether a line before this one goes the same way between two points.
    ///
    /// Memory is often the same on two cards, and the later line would hide the earlier.
    pub(super) fn is_drawn_before(&self, line: usize, pair: &[Point]) -> bool {
        let is_same = |a: &Point, b: &Point| {
            let (a, b) = ((a.value, a.recording.peak_reserved_bytes), (b.value, b.recording.peak_reserved_bytes));
            a.0 == b.0 && a.1.abs_diff(b.1) <= self.most_bytes() / 200
        };
        let goes_there = |other: &[Point]| other.iter().zip(pair).all(|(a, b)| is_same(a, b));
        self.lines[..line].iter().any(|earlier| earlier.points.windows(2).any(goes_there))
    }

    /// The highest that the plot has to show.
    pub(super) fn most_bytes(&self) -> u64 {
        let points = self.lines.iter().flat_map(|line| &line.points);
        let peak = points.map(|point| point.recording.peak_reserved_bytes).max().unwrap_or(0);
        let limits = self.limits.iter().map(|limit| limit.memory_bytes);
        let near = limits.filter(|&memory_bytes| memory_bytes / FAR_ABOVE <= peak).max().unwrap_or(0);
        // A mark has half its height above its place.
        (peak.max(near) as f64 * 1.04) as u64
    }
}

/// Numbers run along the bottom if any vary, and of those the ones with the most values.
fn axis_along(report: &SweepReport) -> String {
    let values = |axis: &str| distinct(report.rows.iter().map(|row| value(row, axis))).len();
    let most = varying(report).max_by_key(|axis| (is_number(axis), values(axis)));
    most.or_else(|| report.axes.last().cloned()).unwrap_or_else(|| "batch".to_owned())
}

/// The axes with more than one value.
fn varying(report: &SweepReport) -> impl Iterator<Item = String> {
    report.axes.iter().filter(|axis| distinct(report.rows.iter().map(|row| value(row, axis))).len() > 1).cloned()
}

fn is_number(axis: &str) -> bool {
    matches!(axis, "batch" | "sequence")
}

/// A value that says of itself what it is, or is told.
fn worded(row: &SweepRow, axis: &str) -> String {
    match axis {
        "card" | "precision" => value(row, axis),
        _ => format!("{axis} {}", value(row, axis)),
    }
}

fn limits(report: &SweepReport) -> Vec<Limit> {
    let mut limits: Vec<Limit> = Vec::new();
    for row in &report.rows {
        if let Some(memory_bytes) = row.memory_bytes
            && limits.iter().all(|limit| limit.card != row.card)
        {
            limits.push(Limit { card: row.card.clone(), memory_bytes });
        }
    }
    limits
}

/// Each text once, in the order of the first.
fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    texts.fold(Vec::new(), |mut seen, text| {
        if !seen.contains(&text) {
            seen.push(text);
        }
        seen
    })
}
