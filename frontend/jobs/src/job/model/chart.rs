//! Draws the memory of a job as a chart.

use super::course::Course;
use frontend::draw::chart::{Axis, Chart as Plot, Curve, Labels, Plotted, Room, steps};
use frontend::draw::color::Color;
use frontend::draw::op::{Align, Font, Op, Point};
use frontend::draw::sketch::Sketch;
use frontend::draw::span::Span;
use frontend::draw::theme::Theme;
use frontend::draw::ticks::Tick;
use shared::base::format;
use std::rc::Rc;

/// Room around the plot; above it for the card's label.
const ROOM: Room = Room { left: 64.0, top: 14.0, right: 8.0, bottom: 24.0 };
/// Distance from a mark to its label, in CSS pixels.
const GAP: f64 = 6.0;
/// Radius of the point on the peak, in CSS pixels.
const POINT: f64 = 3.0;

/// Chart without its size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chart {
    course: Rc<Course>,
    /// Memory of the card, in bytes, if the chart reaches up to it.
    capacity_bytes: Option<u64>,
}

impl Chart {
    /// Makes a chart.
    ///
    /// The card's memory is shown only once a quarter of it is in use, because otherwise it would flatten the curve.
    pub(crate) fn new(course: Rc<Course>, memory_bytes: Option<u64>) -> Self {
        let highest = course.peak_live_bytes().max(course.peak_reserved_bytes());
        Self { capacity_bytes: memory_bytes.filter(|memory| highest >= memory / 4), course }
    }

    /// Returns true if the line of the card's memory is shown.
    pub(crate) fn has_capacity(&self) -> bool {
        self.capacity_bytes.is_some()
    }

    /// Describes the chart for screen readers.
    pub(crate) fn spoken(&self) -> String {
        let (live, reserved) = (self.course.peak_live_bytes(), self.course.peak_reserved_bytes());
        let end = if self.course.ooms.is_empty() { "" } else { ", then it ran out of memory" };
        format!(
            "Memory over the run: at most {} live and {} reserved{end}",
            format::bytes(live),
            format::bytes(reserved)
        )
    }

    /// Draws the chart at a size in CSS pixels.
    pub(crate) fn sketch(&self, size: (f64, f64), theme: &Theme) -> Sketch {
        let mut plotted = self.plot(theme).plotted(size, theme);
        if let Some(capacity) = self.capacity_bytes {
            plotted.level(capacity as f64, theme.oom);
        }
        self.course.ooms.iter().for_each(|&x| plotted.upright(x, theme.oom));
        let labels = self.labels(&plotted, theme);
        plotted.ops.extend(labels);
        Sketch { ops: plotted.ops, width: size.0, height: size.1 }
    }

    fn plot(&self, theme: &Theme) -> Plot {
        let Course { parts, steps, .. } = self.course.as_ref();
        let highest = self.course.peak_live_bytes().max(self.course.peak_reserved_bytes());
        let label = |&(value, step): &(f64, u64)| Tick { value, label: format!("step {}", step + 1) };
        let corners = |bytes: fn(&(u64, u64)) -> u64| corners(parts, bytes);
        Plot {
            x: Axis { range: Span::new(0.0, self.end()), labels: Labels::Given(steps.iter().map(label).collect()) },
            y: Axis::bytes(highest.max(self.capacity_bytes.unwrap_or(0))),
            room: ROOM,
            font: Font::LABEL,
            curves: vec![
                Curve::area(corners(|part| part.0), theme.live, 1.0, 0.24),
                Curve::line(corners(|part| part.1), theme.reserved, 1.5),
            ],
        }
    }

    fn end(&self) -> f64 {
        self.course.parts.len().max(1) as f64
    }

    /// Returns the labels of the card's memory, of the first out-of-memory error and of the peak, and the peak's point.
    fn labels(&self, plotted: &Plotted, theme: &Theme) -> Vec<Op> {
        let mut ops = Vec::new();
        let capacity = self.capacity_bytes.map(|bytes| (plotted.at((self.end(), bytes as f64)), bytes));
        if let Some(((x, y), bytes)) = capacity {
            let text = format!("GPU memory {}", format::bytes(bytes));
            ops.push(label((x - GAP, y - GAP - 2.0), text, Align::Right, theme.oom, theme));
        }
        if let Some(&at) = self.course.ooms.first() {
            let ((x, y), (align, gap)) = (plotted.at((at, 0.0)), self.beside(at));
            ops.push(label((x + gap, y - 2.0 * GAP), "out of memory".to_owned(), align, theme.oom, theme));
        }
        if let Some(at) = self.course.peak {
            let peak_bytes = self.course.peak_live_bytes();
            let point = plotted.at((at, peak_bytes as f64));
            ops.push(Op::Dot { at: point, radius: POINT, color: theme.peak, ring: theme.background });
            // The label stands above both curves unless the card's line is there.
            let high = plotted.at((at, self.bytes_around(at) as f64)).1;
            let has_room = capacity.is_none_or(|((_, card), _)| high - card > 2.0 * Font::LABEL.size);
            let y = if has_room { high - 2.0 * GAP } else { point.1 + 2.0 * GAP };
            let (align, gap) = self.beside(at);
            let text = format!("peak live {}", format::bytes(peak_bytes));
            ops.push(label((point.0 + gap, y), text, align, theme.text, theme));
        }
        ops
    }

    /// Returns the side of a mark that has room for a label, and the distance to it.
    fn beside(&self, x: f64) -> (Align, f64) {
        if x > self.end() / 2.0 { (Align::Right, -GAP) } else { (Align::Left, GAP) }
    }

    /// Returns the larger of live and reserved bytes at position `at`, in parts.
    fn bytes_around(&self, at: f64) -> u64 {
        self.course.parts.get(at as usize).map_or(0, |&(live, reserved)| live.max(reserved))
    }
}

/// Returns the corners of a stepped line.
fn corners(parts: &[(u64, u64)], bytes: fn(&(u64, u64)) -> u64) -> Vec<Point> {
    let values = parts.iter().enumerate().map(|(index, part)| (index as f64, bytes(part) as f64));
    steps(values, parts.len() as f64)
}

fn label((x, y): Point, text: String, align: Align, color: Color, theme: &Theme) -> Op {
    Op::Text { x, y, text, align, font: Font::LABEL, color, halo: Some(theme.background) }
}

#[cfg(test)]
mod tests;
