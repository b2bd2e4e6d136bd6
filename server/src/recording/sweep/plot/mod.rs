//! Draws a sweep as SVG: the peak of each recording and the memory of the cards.
//!
//! The SVG is written directly, because its colours are CSS variables that follow the viewer's light or dark scheme,
//! which plotting libraries do not support.

mod lines;
mod scale;

use std::fmt::Write as _;

use shared::api::SweepReport;
use shared::base::format::bytes;

use super::table::where_it_ran_out;
use crate::byte_axis::ByteAxis;
use lines::{Limit, Line, Plot, Point};
use scale::X;
use shared::base::markup::escaped;

const STYLE: &str = include_str!("style.css");

/// Number of colours; further lines repeat them with dashes.
const COLORS: usize = 8;

const LEFT: f64 = 76.0;
const RIGHT: f64 = 680.0;
const TOP: f64 = 52.0;
const PLOT_HEIGHT: f64 = 330.0;
const BELOW: f64 = 56.0;
/// Distance around everything.
const MARGIN: f64 = 28.0;
const LEGEND_LINE: f64 = 22.0;
/// Distance from the plot to the text of the legend, with the marks in between.
const LEGEND_INDENT: f64 = 54.0;
/// Estimated average width of a letter in the legend, because no font is known to be available.
const LETTER_WIDTH: f64 = 7.4;

/// Draws the peaks of a sweep.
pub fn svg(report: &SweepReport, steps: u64) -> String {
    let plot = Plot::of(report);
    let legend = legend(&plot);
    let x = X::new(&plot.values, plot.is_number, LEFT..RIGHT);
    let y = ByteAxis::new(plot.most_bytes(), TOP..TOP + PLOT_HEIGHT);
    let letters = legend.iter().map(|(_, label)| label.chars().count()).max();
    let width = RIGHT + MARGIN + letters.map_or(0.0, |letters| LEGEND_INDENT + letters as f64 * LETTER_WIDTH);
    // A long legend makes the picture taller instead of the letters smaller.
    let height = (TOP + PLOT_HEIGHT + BELOW).max(TOP + legend.len() as f64 * LEGEND_LINE + MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"snapscope-sweep\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n\
         <rect class=\"background\" width=\"100%\" height=\"100%\"/>\n",
        escaped(&title(report))
    );
    text(&mut svg, (MARGIN, 30.0), "start", "title", &title(report));
    axes(&mut svg, &plot, &x, &y);
    plot.limits.iter().for_each(|limit| draw_limit(&mut svg, limit, &y));
    plot.lines.iter().enumerate().for_each(|(index, line)| draw_line(&mut svg, line, index, &plot, &x, &y, steps));
    for (row, (mark, label)) in legend.iter().enumerate() {
        let middle = TOP + 8.0 + row as f64 * LEGEND_LINE;
        let _ = writeln!(svg, "<g transform=\"translate({:.1} {middle:.1})\">{mark}</g>", RIGHT + 22.0);
        text(&mut svg, (RIGHT + LEGEND_INDENT, middle + 4.0), "start", "", label);
    }
    svg + "</svg>\n"
}

fn title(report: &SweepReport) -> String {
    if report.name.is_empty() {
        "Peak reserved memory".to_owned()
    } else {
        format!("{} · peak reserved memory", report.name)
    }
}

/// Draws the grid, the ticks and the name of the axis.
fn axes(svg: &mut String, plot: &Plot, x: &X, y: &ByteAxis) {
    for (size_bytes, at) in y.ticks() {
        let _ = writeln!(svg, "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/>");
        text(svg, (LEFT - 10.0, at + 4.0), "end", "muted", &y.label(size_bytes));
    }
    let bottom = TOP + PLOT_HEIGHT;
    for (value, at) in x.ticks() {
        let _ = writeln!(svg, "<path class=\"axis\" d=\"M{at:.1} {bottom}v5\"/>");
        text(svg, (at, bottom + 20.0), "middle", "muted", &plot.values[value]);
    }
    let _ = writeln!(svg, "<path class=\"axis\" d=\"M{LEFT} {bottom}H{RIGHT}\"/>");
    text(svg, (f64::midpoint(LEFT, RIGHT), bottom + 42.0), "middle", "", &plot.axis);
}

/// Draws a card's memory as a line, or as a note at the top if it is far above every peak.
fn draw_limit(svg: &mut String, limit: &Limit, y: &ByteAxis) {
    let label = format!("{} · {}", limit.card, bytes(limit.memory_bytes));
    if limit.memory_bytes > y.most_bytes() {
        text(svg, (RIGHT - 6.0, TOP - 8.0), "end", "limit-text", &format!("{label} ↑"));
        return;
    }
    let at = y.at(limit.memory_bytes);
    let _ = writeln!(svg, "<path class=\"limit\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/>");
    text(svg, (LEFT + 8.0, at - 6.0), "start", "limit-text", &label);
}

/// Draws a line through the recordings that fit, with a dashed segment to those that ran out of memory.
fn draw_line(svg: &mut String, line: &Line, index: usize, plot: &Plot, x: &X, y: &ByteAxis, steps: u64) {
    let at = |point: &Point| (x.at(point.value), y.at(point.recording.peak_reserved_bytes));
    let _ = writeln!(svg, "<g class=\"{}\">", color_class(index));
    if plot.is_number {
        for pair in line.points.windows(2) {
            let class = match pair.iter().filter(|point| point.ran_out()).count() {
                0 if plot.is_drawn_before(index, pair) => "line over",
                0 => "line",
                1 => "line to-oom",
                _ => continue,
            };
            let ((x1, y1), (x2, y2)) = (at(&pair[0]), at(&pair[1]));
            let _ = writeln!(svg, "<path class=\"{class}\" d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\"/>");
        }
    }
    for point in &line.points {
        let (x, y) = at(point);
        let mark = if point.ran_out() { CROSS } else { DOT };
        let hint = escaped(&hint(line, point, plot, steps));
        let _ = writeln!(svg, "<g transform=\"translate({x:.1} {y:.1})\"><title>{hint}</title>{mark}</g>");
    }
    svg.push_str("</g>\n");
}

const DOT: &str = "<circle class=\"dot\" r=\"4\"/>";
const CROSS: &str = "<path class=\"oom\" d=\"M-5 -5L5 5M-5 5L5 -5\"/>";

/// Returns the tooltip of a point.
fn hint(line: &Line, point: &Point, plot: &Plot, steps: u64) -> String {
    let reserved = format!("{} reserved", bytes(point.recording.peak_reserved_bytes));
    let oom = point.recording.oom.as_ref().map(|oom| format!("out of memory in {}", where_it_ran_out(oom, steps)));
    let place = format!("{} {}", plot.axis, plot.values[point.value]);
    let parts = [line.label.clone(), place, reserved].into_iter().chain(oom);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// Returns the marks and labels of the legend; empty for a single line without out-of-memory errors.
fn legend(plot: &Plot) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    if plot.lines.len() > 1 {
        let stroke = if plot.is_number { "<path class=\"line\" d=\"M-2 0H22\"/>" } else { "" };
        let mark = |index| {
            format!("<g class=\"{}\">{stroke}<g transform=\"translate(10 0)\">{DOT}</g></g>", color_class(index))
        };
        rows.extend(plot.lines.iter().enumerate().map(|(index, line)| (mark(index), line.label.clone())));
    }
    if plot.lines.iter().flat_map(|line| &line.points).any(Point::ran_out) {
        rows.push((format!("<g transform=\"translate(10 0)\">{CROSS}</g>"), "out of memory".to_owned()));
    }
    rows
}

fn color_class(index: usize) -> String {
    let dashed = if (index / COLORS).is_multiple_of(2) { "" } else { " dashed" };
    format!("series color-{}{dashed}", index % COLORS)
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, class: &str, words: &str) {
    let words = escaped(words);
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{words}</text>");
}
