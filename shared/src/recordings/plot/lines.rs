//! Arranges the rows of a sweep into an axis and one line per combination of other values, and draws marks and legend.

use super::super::table::{distinct, value, varying};
use crate::api::{FitReport, OutOfMemory, SweepReport, SweepRow};
use crate::base::ShortSort;
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
    /// Labels of the legend, each for lines of one colour.
    pub(super) labels: Vec<String>,
    /// Memory limits, one per card.
    pub(super) limits: Vec<Limit>,
}

/// Recordings that differ only in the value on the horizontal axis.
pub(super) struct Line {
    /// Values that they have in common; empty if there is only one line.
    pub(super) label: String,
    /// Index of its label in the legend; lines of several cards on which the peaks are the same share one.
    pub(super) entry: usize,
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
            values.short_sort_by_key(|value| value.parse::<u64>().unwrap_or(0));
        }
        let others = varying(report).filter(|other| *other != axis).collect::<Vec<_>>();
        let label = |row: &SweepRow| worded(row, &others);
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
            points.short_sort_by_key(|point| point.value);
            Line { label: wanted, entry: 0, points }
        };
        let lines = labels.into_iter().map(line).collect();
        let mut plot = Self { axis, is_number, lines, labels: Vec::new(), limits: limits(report), values };
        plot.name_lines(&report.rows, &others);
        plot
    }

    /// Gives each line its entry in the legend; lines of several cards have one if their peaks are the same.
    ///
    /// An entry names its cards unless it has all of them.
    fn name_lines(&mut self, rows: &[SweepRow], others: &[String]) {
        let (of_card, of_rest): (Vec<_>, Vec<_>) = others.iter().cloned().partition(|axis| axis == "card");
        // Cards, the other values, and the lines that have them.
        let mut entries: Vec<(Vec<String>, String, Vec<usize>)> = Vec::new();
        for index in 0..self.lines.len() {
            let Some(row) = rows.iter().find(|row| worded(row, others) == self.lines[index].label) else { continue };
            let rest = worded(row, &of_rest);
            let is_same = |other: &usize| self.agree(&self.lines[*other], &self.lines[index]);
            let known = entries.iter().position(|(_, other, lines)| *other == rest && lines.iter().all(is_same));
            let entry = known.unwrap_or(entries.len());
            if known.is_none() {
                entries.push((Vec::new(), rest, Vec::new()));
            }
            entries[entry].0.push(worded(row, &of_card));
            entries[entry].2.push(index);
            self.lines[index].entry = entry;
        }
        let label = |(cards, rest, _): (Vec<String>, String, Vec<usize>)| {
            let cards = if cards.len() < self.limits.len() { cards.join(", ") } else { String::new() };
            [cards, rest].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
        };
        self.labels = entries.into_iter().map(label).collect();
    }

    /// Returns true if two lines have the same peaks wherever both fit.
    fn agree(&self, one: &Line, other: &Line) -> bool {
        let pairs = one.points.iter().flat_map(|a| other.points.iter().map(move |b| (a, b)));
        let mut both_fit = pairs.filter(|(a, b)| a.value == b.value && !a.ran_out() && !b.ran_out());
        both_fit.all(|(a, b)| self.is_same(a, b))
    }

    /// Returns true if an earlier line of the same entry has a recording that fits at the place of this one.
    pub(super) fn is_drawn_before(&self, line: usize, point: &Point) -> bool {
        let same = self.lines[..line].iter().filter(|earlier| earlier.entry == self.lines[line].entry);
        !point.ran_out()
            && same.flat_map(|line| &line.points).any(|other| !other.ran_out() && other.value == point.value)
    }

    /// Compares two points with a tolerance of 0.5 % of the highest peak.
    fn is_same(&self, a: &Point, b: &Point) -> bool {
        a.value == b.value && a.peak_reserved_bytes.abs_diff(b.peak_reserved_bytes) <= self.highest_bytes() / 200
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
            lines: vec![Line { label: String::new(), entry: 0, points: points.collect() }],
            labels: vec![String::new()],
            limits: report.memory_bytes.map(limit).into_iter().collect(),
        }
    }

    /// Returns the legend's entry of the first earlier line with the same segment between two points.
    ///
    /// Memory is often the same with several choices, and the later line would then hide the earlier.
    pub(super) fn drawn_before(&self, line: usize, pair: &[Point]) -> Option<usize> {
        let goes_there = |other: &[Point]| other.iter().zip(pair).all(|(a, b)| self.is_same(a, b));
        let mut earlier = self.lines[..line].iter();
        let found = earlier.find(|earlier| earlier.points.windows(2).any(goes_there));
        found.map(|earlier| earlier.entry)
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

fn is_number(axis: &str) -> bool {
    matches!(axis, "batch" | "sequence")
}

/// Formats the values of some axes, with the name of the axis unless a value is clear by itself.
fn worded(row: &SweepRow, axes: &[String]) -> String {
    let word = |axis: &String| match axis.as_str() {
        "card" | "precision" => value(row, axis),
        _ => format!("{axis} {}", value(row, axis)),
    };
    axes.iter().map(word).collect::<Vec<_>>().join(" · ")
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

/// Font of the legend and of the axis' name.
pub(super) const TEXT: Font = Font::plain(13.0);

/// Thickness of lines between recordings, in pixels.
const THICK: f64 = 2.0;

/// Thickness of lines to recordings that ran out of memory, in pixels.
const THIN: f64 = 1.5;

const LEGEND_LINE: f64 = 22.0;

/// Distance from the plot to the text of the legend, with the marks in between.
const LEGEND_INDENT: f64 = 54.0;

/// Returns the colour of an entry of the legend; those beyond the number of colours repeat them with dashes.
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

/// Legend beside the plot.
pub(super) struct Legend<'a> {
    /// Labels, each with its position if it is that of lines of one colour; the other is that of out-of-memory errors.
    rows: Vec<(Option<usize>, &'a str)>,
    /// True if lines connect the recordings.
    is_connected: bool,
}

impl<'a> Legend<'a> {
    /// Returns the legend of a plot, which is empty for lines of one colour without out-of-memory errors.
    pub(super) fn of(plot: &'a Plot) -> Self {
        let mut rows = Vec::new();
        if plot.labels.len() > 1 {
            rows.extend(plot.labels.iter().enumerate().map(|(entry, label)| (Some(entry), label.as_str())));
        }
        if plot.lines.iter().flat_map(|line| &line.points).any(Point::ran_out) {
            rows.push((None, "out of memory"));
        }
        Self { rows, is_connected: plot.is_number }
    }

    /// Returns the width and the height in pixels.
    pub(super) fn size(&self) -> (f64, f64) {
        let widest = self.rows.iter().map(|(_, label)| TEXT.width(label)).reduce(f64::max);
        (widest.map_or(0.0, |width| LEGEND_INDENT + width), self.rows.len() as f64 * LEGEND_LINE)
    }

    /// Draws the legend with its top left corner at a place.
    pub(super) fn ops(&self, (left, top): Place, theme: &Theme) -> Vec<Op> {
        let mut ops = Vec::new();
        for (row, &(line, label)) in self.rows.iter().enumerate() {
            let y = top + 8.0 + row as f64 * LEGEND_LINE;
            let (start, mark, end) = ((left + 20.0, y), (left + 32.0, y), (left + 44.0, y));
            match line {
                Some(line) => {
                    ops.extend(self.is_connected.then(|| segment(line, [start, end], false, theme)));
                    ops.push(dot(mark, line, theme));
                }
                None => ops.extend(cross(mark, theme)),
            }
            ops.push(Op::text((left + LEGEND_INDENT, y), label, Align::Left, TEXT, theme.text));
        }
        ops
    }
}
