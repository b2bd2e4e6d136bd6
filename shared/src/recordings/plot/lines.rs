//! Arranges the rows of a sweep into an axis and one line per combination of the other values.

use super::super::table::value;
use crate::api::{FitReport, OutOfMemory, SweepReport, SweepRow};

/// Largest ratio of a card's memory to the highest peak at which its limit is drawn as a line.
///
/// A higher line would flatten the peaks.
const FAR_ABOVE: u64 = 3;

/// Rows of a sweep, arranged for a plot.
pub(super) struct Plot {
    /// Name of the horizontal axis.
    pub(super) axis: String,
    /// Values of the axis, in order.
    pub(super) values: Vec<String>,
    /// True if the values are numbers.
    pub(super) is_number: bool,
    /// Lines in the order of the table.
    pub(super) lines: Vec<Line>,
    /// Memory limits, one per card.
    pub(super) limits: Vec<Limit>,
}

/// Recordings that differ only in the value on the horizontal axis.
pub(super) struct Line {
    /// Values that they have in common; empty if there is only one line.
    pub(super) label: String,
    /// Points ordered by value.
    pub(super) points: Vec<Point>,
}

pub(super) struct Point {
    /// Index of its value on the axis.
    pub(super) value: usize,
    pub(super) peak_reserved_bytes: u64,
    /// Out-of-memory error that ended the recording, if there was one.
    pub(super) oom: Option<OutOfMemory>,
}

/// Total memory of a card.
pub(super) struct Limit {
    pub(super) card: String,
    pub(super) memory_bytes: u64,
}

impl Point {
    pub(super) const fn ran_out(&self) -> bool {
        self.oom.is_some()
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
                let recording = row.recording.as_ref()?;
                let (peak_reserved_bytes, oom) = (recording.peak_reserved_bytes, recording.oom.clone());
                Some(Point { value, peak_reserved_bytes, oom })
            };
            let mut points: Vec<_> = rows.filter_map(point).collect();
            points.sort_by_key(|point| point.value);
            Line { label: wanted, points }
        };
        let lines = labels.into_iter().map(line).collect();
        Self { axis, is_number, lines, limits: limits(report), values }
    }

    /// Arranges the recordings of a search along the batch.
    pub(super) fn of_fit(report: &FitReport) -> Self {
        let probes = report.probes.iter().enumerate();
        let points = probes.map(|(value, probe)| Point {
            value,
            peak_reserved_bytes: probe.peak_reserved_bytes,
            oom: probe.oom.clone(),
        });
        let limit = |memory_bytes| Limit { card: report.card.clone(), memory_bytes };
        Self {
            axis: "batch".to_owned(),
            is_number: true,
            values: report.probes.iter().map(|probe| probe.batch.to_string()).collect(),
            lines: vec![Line { label: String::new(), points: points.collect() }],
            limits: report.memory_bytes.map(limit).into_iter().collect(),
        }
    }

    /// Returns true if an earlier line has the same segment between two points.
    ///
    /// Peaks are compared with a tolerance of 0.5 %. Memory is often the same on two cards, and the later
    /// line would then hide the earlier.
    pub(super) fn is_drawn_before(&self, line: usize, pair: &[Point]) -> bool {
        let is_same = |a: &Point, b: &Point| {
            let (a, b) = ((a.value, a.peak_reserved_bytes), (b.value, b.peak_reserved_bytes));
            a.0 == b.0 && a.1.abs_diff(b.1) <= self.highest_bytes() / 200
        };
        let goes_there = |other: &[Point]| other.iter().zip(pair).all(|(a, b)| is_same(a, b));
        self.lines[..line].iter().any(|earlier| earlier.points.windows(2).any(goes_there))
    }

    /// Returns the highest value that the plot shows.
    pub(super) fn highest_bytes(&self) -> u64 {
        let points = self.lines.iter().flat_map(|line| &line.points);
        let peak = points.map(|point| point.peak_reserved_bytes).max().unwrap_or(0);
        let limits = self.limits.iter().map(|limit| limit.memory_bytes);
        let near = limits.filter(|&memory_bytes| memory_bytes / FAR_ABOVE <= peak).max().unwrap_or(0);
        peak.max(near)
    }
}

/// Chooses the axis along the bottom: preferably a number that varies, and then the axis with the most values.
fn axis_along(report: &SweepReport) -> String {
    let values = |axis: &str| distinct(report.rows.iter().map(|row| value(row, axis))).len();
    let most = varying(report).max_by_key(|axis| (is_number(axis), values(axis)));
    most.or_else(|| report.axes.last().cloned()).unwrap_or_else(|| "batch".to_owned())
}

/// Returns the axes with more than one value.
fn varying(report: &SweepReport) -> impl Iterator<Item = String> {
    report.axes.iter().filter(|axis| distinct(report.rows.iter().map(|row| value(row, axis))).len() > 1).cloned()
}

fn is_number(axis: &str) -> bool {
    matches!(axis, "batch" | "sequence")
}

/// Formats a value with the name of its axis, unless the value is clear by itself.
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

/// Returns each text once, in order of first appearance.
fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    texts.fold(Vec::new(), |mut seen, text| {
        if !seen.contains(&text) {
            seen.push(text);
        }
        seen
    })
}
