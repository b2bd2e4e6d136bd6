//! Arranges the rows of a sweep into an axis and one line per combination of the other values.
//!
//! Draws the marks of recordings, and the legend that explains them.

use super::super::table::value;
use crate::api::{FitReport, OutOfMemory, SweepReport, SweepRow};
use crate::draw::color::Color;
use crate::draw::op::{Align, Font, Op, Point as Place};
use crate::draw::theme::{CATEGORIES, Theme};

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

/// Font of the legend and of the axis' name.
pub(super) const TEXT: Font = Font::plain(13.0);

/// Thickness of lines between recordings, in pixels.
const THICK: f64 = 2.0;

/// Thickness of lines to recordings that ran out of memory, in pixels.
const THIN: f64 = 1.5;

const LEGEND_LINE: f64 = 22.0;

/// Distance from the plot to the text of the legend, with the marks in between.
const LEGEND_INDENT: f64 = 54.0;

/// Returns the colour of a line; lines beyond the number of colours repeat them with dashes.
pub(super) fn color(line: usize, theme: &Theme) -> Color {
    theme.categories[line % CATEGORIES]
}

/// Draws the line between two recordings, of which at most one ran out of memory.
pub(super) fn segment(line: usize, places: [Place; 2], ran_out: bool, theme: &Theme) -> Op {
    let dashed = ran_out || !(line / CATEGORIES).is_multiple_of(2);
    let width = if ran_out { THIN } else { THICK };
    Op::Line { points: places.to_vec(), width, color: color(line, theme), dashed }
}

/// Draws a line on top of an equal one with long gaps, so that the colours of both are visible.
pub(super) fn segment_over(line: usize, [from, to]: [Place; 2], theme: &Theme) -> impl Iterator<Item = Op> {
    const DASH: f64 = 9.0;
    let length = f64::hypot(to.0 - from.0, to.1 - from.1);
    let at = move |distance: f64| {
        let share = distance / length;
        (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1))
    };
    let starts = (0..).map(|dash| f64::from(dash) * 2.0 * DASH).take_while(move |&start| start < length);
    let color = color(line, theme);
    starts.map(move |start| Op::line([at(start), at((start + DASH).min(length))], THICK, color))
}

/// Draws a recording that fits.
pub(super) fn dot(at: Place, line: usize, theme: &Theme) -> Op {
    Op::Dot { at, radius: 3.25, color: color(line, theme), ring: theme.background }
}

/// Draws a recording that ran out of memory.
pub(super) fn cross((x, y): Place, theme: &Theme) -> [Op; 2] {
    let stroke = |rise: f64| Op::line([(x - 5.0, y - rise), (x + 5.0, y + rise)], 2.2, theme.oom);
    [stroke(5.0), stroke(-5.0)]
}

/// Row of the legend.
pub(super) enum Row<'a> {
    /// A line, by its position.
    Line(usize, &'a str),
    OutOfMemory,
}

impl Row<'_> {
    fn label(&self) -> &str {
        match self {
            Self::Line(_, label) => label,
            Self::OutOfMemory => "out of memory",
        }
    }
}

/// Legend beside the plot.
pub(super) struct Legend<'a> {
    rows: Vec<Row<'a>>,
    /// True if lines connect the recordings.
    is_connected: bool,
}

impl<'a> Legend<'a> {
    /// Returns the legend of a plot, which is empty for a single line without out-of-memory errors.
    pub(super) fn of(plot: &'a Plot) -> Self {
        let mut rows = Vec::new();
        if plot.lines.len() > 1 {
            rows.extend(plot.lines.iter().enumerate().map(|(index, line)| Row::Line(index, &line.label)));
        }
        if plot.lines.iter().flat_map(|line| &line.points).any(Point::ran_out) {
            rows.push(Row::OutOfMemory);
        }
        Self { rows, is_connected: plot.is_number }
    }

    /// Returns the width and the height in pixels.
    pub(super) fn size(&self) -> (f64, f64) {
        let widest = self.rows.iter().map(|row| TEXT.width(row.label())).reduce(f64::max);
        (widest.map_or(0.0, |width| LEGEND_INDENT + width), self.rows.len() as f64 * LEGEND_LINE)
    }

    /// Draws the legend with its top left corner at a place.
    pub(super) fn ops(&self, (left, top): Place, theme: &Theme) -> Vec<Op> {
        let mut ops = Vec::new();
        for (row, entry) in self.rows.iter().enumerate() {
            let y = top + 8.0 + row as f64 * LEGEND_LINE;
            let (start, mark, end) = ((left + 20.0, y), (left + 32.0, y), (left + 44.0, y));
            match entry {
                Row::Line(line, _) => {
                    ops.extend(self.is_connected.then(|| segment(*line, [start, end], false, theme)));
                    ops.push(dot(mark, *line, theme));
                }
                Row::OutOfMemory => ops.extend(cross(mark, theme)),
            }
            ops.push(Op::text((left + LEGEND_INDENT, y), entry.label(), Align::Left, TEXT, theme.text));
        }
        ops
    }
}
