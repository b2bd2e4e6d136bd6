//! Draws the marks of recordings, and the legend that explains them.

use crate::draw::color::Color;
use crate::draw::op::{Align, Font, Op, Point as Place};
use crate::draw::theme::{CATEGORIES, Theme};

use super::lines::{Plot, Point};

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
