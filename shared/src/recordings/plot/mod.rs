//! Draws a sweep as SVG: the peak of each recording, along the horizontal axis, and the memory of the cards.

mod lines;

use super::table::where_it_ran_out;
use crate::api::{FitReport, SweepReport};
use crate::base::{ShortSort, format::bytes};
use crate::draw::chart::{Axis, Chart, Labels, Plotted, Room};
use crate::draw::op::{Align, Font, Op, Point as Place};
use crate::draw::rect::Rect;
use crate::draw::sketch::Sketch;
use crate::draw::span::Span;
use crate::draw::svg::svg_for_both;
use crate::draw::theme::Theme;
use crate::draw::ticks::Tick;
use lines::{Legend, Limit, Line, Plot, Point, TEXT};

const LEFT: f64 = 76.0;
const RIGHT: f64 = 680.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = 382.0;
const BELOW: f64 = 56.0;
/// Distance around everything.
const MARGIN: f64 = 28.0;

const TITLE: Font = Font::strong(15.0);
const LABEL: Font = Font::plain(12.0);

/// Side of the area around a recording that shows its tooltip, in pixels.
const HINT: f64 = 14.0;

/// Draws the peaks of a sweep, light or dark as the viewer's browser prefers.
pub fn svg(report: &SweepReport, steps: u64) -> String {
    let peaks = Peaks::of_sweep(report, steps);
    svg_for_both(&peaks.title, &peaks.sketch(&Theme::light()), &peaks.sketch(&Theme::dark()))
}

/// Peaks of several recordings, as a drawing in any theme.
pub struct Peaks {
    plot: Plot,
    title: String,
    steps: u64,
}

impl Peaks {
    /// Arranges the recordings of a sweep; `steps` is the number of steps of each.
    pub fn of_sweep(report: &SweepReport, steps: u64) -> Self {
        Self { plot: Plot::of(report), title: title(&report.name), steps }
    }

    /// Arranges the recordings of a search for the largest batch.
    pub fn of_fit(report: &FitReport, steps: u64) -> Self {
        Self { plot: Plot::of_fit(report), title: title(&report.name), steps }
    }

    /// Draws the plot as an SVG document in one theme.
    pub fn svg(&self, theme: &Theme) -> String {
        crate::draw::svg::svg(&self.title, &self.sketch(theme))
    }

    fn sketch(&self, theme: &Theme) -> Sketch {
        let legend = Legend::of(&self.plot);
        let (legend_width, legend_height) = legend.size();
        // A long legend makes the picture taller instead of the letters smaller.
        let height = (BOTTOM + BELOW).max(TOP + legend_height + MARGIN);
        let mut sketch = Sketch::blank((RIGHT + MARGIN + legend_width).round(), height, theme);
        sketch.ops.push(text((MARGIN, 30.0), &self.title, Align::Left, TITLE, theme));
        let mut drawing = Drawing::new(&self.plot, self.steps, theme);
        drawing.axis();
        drawing.limits();
        self.plot.lines.iter().enumerate().for_each(|(index, line)| drawing.line(index, line));
        sketch.ops.append(&mut drawing.plotted.ops);
        sketch.ops.extend(legend.ops((RIGHT, TOP), theme));
        sketch
    }
}

fn title(name: &str) -> String {
    if name.is_empty() { "Peak reserved memory".to_owned() } else { format!("{name} · peak reserved memory") }
}

fn text((x, baseline): Place, words: &str, align: Align, font: Font, theme: &Theme) -> Op {
    Op::text((x, baseline - font.baseline()), words, align, font, theme.text)
}

/// Chart to which the recordings are added.
struct Drawing<'a> {
    plot: &'a Plot,
    steps: u64,
    theme: &'a Theme,
    /// Horizontal positions by index of the value.
    places: Vec<f64>,
    /// Bytes at the top of the vertical axis.
    most_bytes: f64,
    plotted: Plotted,
}

impl<'a> Drawing<'a> {
    fn new(plot: &'a Plot, steps: u64, theme: &'a Theme) -> Self {
        let across = Span::new(LEFT, RIGHT);
        let places = places(&plot.values, plot.is_number, across);
        let tick = |(&value, label): (&f64, &String)| Tick { value, label: label.clone() };
        let labels = Labels::Given(places.iter().zip(&plot.values).map(tick).collect());
        let (x, y) = (Axis { range: across, labels }, Axis::bytes(plot.highest_bytes()));
        let most_bytes = y.range.end;
        let room = Room { left: LEFT, top: TOP, right: MARGIN, bottom: BELOW };
        let chart = Chart { x, y, room, font: LABEL, curves: Vec::new() };
        let plotted = chart.plotted((RIGHT + MARGIN, BOTTOM + BELOW), theme);
        Self { plot, steps, theme, places, most_bytes, plotted }
    }

    /// Draws the horizontal axis and its name.
    fn axis(&mut self) {
        let ops = &mut self.plotted.ops;
        ops.push(Op::line([(LEFT, BOTTOM), (RIGHT, BOTTOM)], 1.0, self.theme.text_muted));
        let ticks = self.places.iter().map(|&x| Op::line([(x, BOTTOM), (x, BOTTOM + 5.0)], 1.0, self.theme.text_muted));
        ops.extend(ticks);
        ops.push(text((f64::midpoint(LEFT, RIGHT), BOTTOM + 42.0), &self.plot.axis, Align::Center, TEXT, self.theme));
    }

    /// Draws the memory of cards as lines, and as a note at the top where it is far above every peak.
    ///
    /// Cards whose labels would overlap share one.
    fn limits(&mut self) {
        let mut limits: Vec<&Limit> = self.plot.limits.iter().collect();
        limits.short_sort_by_key(|limit| limit.memory_bytes);
        let height = |limit: &Limit| self.plotted.at((LEFT, limit.memory_bytes as f64)).1;
        let is_far = |limit: &Limit| limit.memory_bytes as f64 > self.most_bytes;
        let is_close = |a: &&Limit, b: &&Limit| is_far(a) == is_far(b) && height(a) - height(b) < LABEL.size + 2.0;
        let groups: Vec<(bool, f64, String)> = limits
            .chunk_by(|a, b| is_close(a, b) || is_far(a) && is_far(b))
            .map(|group| {
                let texts = group.iter().map(|limit| format!("{} · {}", limit.card, bytes(limit.memory_bytes)));
                let highest = group[group.len() - 1];
                (is_far(highest), height(highest), texts.collect::<Vec<_>>().join(", "))
            })
            .collect();
        let color = self.theme.reserved;
        for limit in limits.iter().filter(|limit| limit.memory_bytes as f64 <= self.most_bytes) {
            self.plotted.level(limit.memory_bytes as f64, color);
        }
        for (is_far, height, label) in groups {
            let (x, baseline, text, align) = match is_far {
                true => (RIGHT - 6.0, TOP - 8.0, format!("{label} ↑"), Align::Right),
                false => (LEFT + 8.0, height - 6.0, label, Align::Left),
            };
            let (y, halo) = (baseline - LABEL.baseline(), Some(self.theme.background));
            self.plotted.ops.push(Op::Text { x, y, text, align, font: LABEL, color, halo });
        }
    }

    fn at(&self, point: &Point) -> Place {
        self.plotted.at((self.places[point.value], point.peak_reserved_bytes as f64))
    }

    /// Draws a line through the recordings that fit, with thin segments to those that ran out of memory.
    fn line(&mut self, index: usize, line: &Line) {
        let mut ops = Vec::new();
        for pair in line.points.windows(2).filter(|_| self.plot.is_number) {
            let ran_out = pair.iter().filter(|point| point.ran_out()).count();
            let places = [self.at(&pair[0]), self.at(&pair[1])];
            match (ran_out, self.plot.drawn_before(index, pair)) {
                (0, Some(entry)) if entry == line.entry => (),
                (0, Some(_)) => ops.extend(lines::segment_over(line.entry, places, self.theme)),
                (0 | 1, _) => ops.push(lines::segment(line.entry, places, ran_out > 0, self.theme)),
                _ => (),
            }
        }
        for point in line.points.iter().filter(|point| !self.plot.is_drawn_before(index, point)) {
            let at = self.at(point);
            match point.ran_out() {
                true => ops.extend(lines::cross(at, self.theme)),
                false => ops.push(lines::dot(at, line.entry, self.theme)),
            }
            let rect = Rect::new(at.0 - HINT / 2.0, at.1 - HINT / 2.0, HINT, HINT);
            ops.push(Op::Hint { rect, text: self.hint(line, point) });
        }
        self.plotted.ops.append(&mut ops);
    }

    /// Returns the tooltip of a point.
    fn hint(&self, line: &Line, point: &Point) -> String {
        let reserved = format!("{} reserved", bytes(point.peak_reserved_bytes));
        let oom = point.oom.as_ref();
        let oom = oom.map(|oom| format!("out of memory {}", where_it_ran_out(oom, self.steps)));
        let place = format!("{} {}", self.plot.axis, self.plot.values[point.value]);
        let label = if point.ran_out() { &line.label } else { &self.plot.labels[line.entry] };
        let parts = [label.clone(), place, reserved].into_iter().chain(oom);
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
    }
}

/// Minimum ratio of the largest to the smallest value at which uneven values are spaced logarithmically.
const WIDE: f64 = 4.0;

/// Returns the position of each value: numbers are spaced by their size and words evenly.
fn places(values: &[String], is_number: bool, across: Span) -> Vec<f64> {
    let numbers: Vec<f64> = values.iter().map(|value| value.parse().unwrap_or(0.0)).collect();
    let by_doubling = is_number && grows(&numbers);
    let position = |index: usize| match () {
        () if !is_number => index as f64,
        () if by_doubling => numbers[index].log2(),
        () => numbers[index],
    };
    let positions: Vec<f64> = (0..values.len()).map(position).collect();
    let (first, last) = (positions.first().copied().unwrap_or(0.0), positions.last().copied().unwrap_or(0.0));
    // Words are centred in their part; numbers extend from edge to edge, with room for their marks.
    let inset = if is_number { 28.0 } else { across.len() / (2.0 * values.len().max(1) as f64) };
    let inner = Span::new(across.start + inset, across.end - inset);
    let share = |at: f64| if last > first { (at - first) / (last - first) } else { 0.5 };
    positions.into_iter().map(|at| inner.at(share(at))).collect()
}

/// Returns true if ordered values are spaced more and more widely: `1, 2, 4, 8`, but not `1, 2, 3, 4`.
fn grows(values: &[f64]) -> bool {
    let [least, .., most] = values else { return false };
    let gaps = || values.windows(2).map(|pair| pair[1] - pair[0]);
    let (narrowest, widest) = (gaps().fold(f64::MAX, f64::min), gaps().fold(0.0, f64::max));
    *least > 0.0 && most / least >= WIDE && widest >= 2.0 * narrowest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_x(values: &[&str], is_number: bool, expected: &[f64]) {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        let places: Vec<f64> = places(&values, is_number, Span::new(0.0, 256.0)).iter().map(|at| at.round()).collect();
        assert_eq!(places, expected);
    }

    #[test]
    fn wide_ranges_are_spaced_by_doubling() {
        check_x(&["1", "2", "4", "8", "16"], true, &[28.0, 78.0, 128.0, 178.0, 228.0]);
        check_x(&["2", "4", "8"], true, &[28.0, 128.0, 228.0]);
        check_x(&["1", "2", "3", "4", "5"], true, &[28.0, 78.0, 128.0, 178.0, 228.0]);
        check_x(&["1", "2", "3"], true, &[28.0, 128.0, 228.0]);
        check_x(&["fp32", "bf16"], false, &[64.0, 192.0]);
        check_x(&["8"], true, &[128.0]);
    }
}
