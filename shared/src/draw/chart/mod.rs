//! Draws charts of memory with plotters, as operations.
//!
//! A chart is data: curves, their colours, and axes with labels at round values. plotters lays out its grid, labels and
//! curves on a backend that records operations, so that a chart looks the same on a canvas, as SVG and as PNG.

mod recorder;

use crate::draw::ticks::{Tick, byte_ticks};
use crate::draw::{Color, Font, Op, Point, Rect, Span, Theme};
use plotters::chart::{ChartBuilder, ChartContext, LabelAreaPosition};
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::drawing::IntoDrawingArea as _;
use plotters::series::{AreaSeries, LineSeries};
use plotters::style::{FontStyle, IntoFont as _, RGBAColor, ShapeStyle, TRANSPARENT, TextStyle};
use recorder::{Recorder, units};
use std::ops::Range;

/// Distance from the plot to the labels of its axes, in CSS pixels.
const LABEL_GAP: f64 = 8.0;

/// Chart without its size.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    pub x: Axis,
    /// Vertical axis, whose values are bytes.
    pub y: Axis,
    pub room: Room,
    /// Font of the labels at the axes.
    pub font: Font,
    /// Curves, the lowest one first.
    pub curves: Vec<Curve>,
}

/// Room around the plot, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Room {
    /// Room for the labels of the vertical axis.
    pub left: f64,
    pub top: f64,
    pub right: f64,
    /// Room for the labels of the horizontal axis.
    pub bottom: f64,
}

/// Line through points, with or without an area below it.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Positions on the axes, from left to right.
    pub points: Vec<Point>,
    pub color: Color,
    /// Thickness in CSS pixels.
    pub width: f64,
    pub dashed: bool,
    /// Colour of the area below the line; `None` for a line alone.
    pub area: Option<Color>,
}

/// Drawn chart, to which marks may be added.
#[derive(Clone, Debug, PartialEq)]
pub struct Plotted {
    pub ops: Vec<Op>,
    /// Area of the plot, without its labels.
    pub plot: Rect,
    x: Span,
    y: Span,
}

impl Chart {
    /// Draws the chart at a size in CSS pixels.
    pub fn plotted(&self, (width, height): (f64, f64), theme: &Theme) -> Plotted {
        let Room { left, top, right, bottom } = self.room;
        let plot = Rect::new(left, top, (width - left - right).max(1.0), (height - top - bottom).max(1.0));
        let mut ops = Vec::new();
        // The backend only records, which never fails.
        let _ = self.record(Recorder::new(&mut ops, (plot.right() + right, plot.bottom() + bottom)), plot, theme);
        Plotted { ops, plot, x: self.x.range, y: self.y.range }
    }

    fn record(&self, recorder: Recorder<'_>, plot: Rect, theme: &Theme) -> recorder::Recorded {
        let dashes = recorder.dashes();
        let area = recorder.into_drawing_area();
        let scales = (self.x.scale(plot.width, self.font), self.y.scale(plot.height, self.font));
        let mut context = ChartBuilder::on(&area)
            .margin_top(units(self.room.top))
            .margin_right(units(self.room.right))
            .set_label_area_size(LabelAreaPosition::Left, units(self.room.left))
            .set_label_area_size(LabelAreaPosition::Bottom, units(self.room.bottom))
            .build_cartesian_2d(scales.0, scales.1)?;
        self.draw_mesh(&mut context, theme)?;
        for curve in &self.curves {
            let edge = ShapeStyle::from(rgba(curve.color)).stroke_width(units(curve.width));
            let points = curve.points.iter().copied();
            dashes.set(curve.dashed);
            match curve.area {
                Some(area) => {
                    context.draw_series(AreaSeries::new(points, self.y.range.start, rgba(area)).border_style(edge))?;
                }
                None => drop(context.draw_series(LineSeries::new(points, edge))?),
            }
        }
        dashes.set(false);
        area.present()
    }

    fn draw_mesh(
        &self,
        context: &mut ChartContext<'_, Recorder<'_>, Cartesian2d<Scale, Scale>>,
        theme: &Theme,
    ) -> recorder::Recorded {
        let style = if self.font.is_strong { FontStyle::Bold } else { FontStyle::Normal };
        let font = ("sans-serif", f64::from(units(self.font.size)), style).into_font();
        // Labels are twice the length of a tick mark away from the plot, whether or not the mark is drawn.
        let mark = units(LABEL_GAP / 2.0) as i32;
        context
            .configure_mesh()
            .axis_style(TRANSPARENT)
            .light_line_style(TRANSPARENT)
            .bold_line_style(ShapeStyle::from(rgba(theme.grid)).stroke_width(units(1.0)))
            .label_style(TextStyle::from(font).color(&rgba(theme.text_muted)))
            .set_tick_mark_size(LabelAreaPosition::Left, mark)
            .set_tick_mark_size(LabelAreaPosition::Bottom, mark)
            .draw()
    }
}

impl Curve {
    pub fn line(points: Vec<Point>, color: Color, width: f64) -> Self {
        Self { points, color, width, dashed: false, area: None }
    }

    /// Creates an area, with a line of the same colour along its top; `alpha` is the area's opacity.
    pub fn area(points: Vec<Point>, color: Color, width: f64, alpha: f32) -> Self {
        Self { area: Some(color.with_alpha(alpha)), ..Self::line(points, color, width) }
    }

    #[must_use]
    pub fn dashed(self) -> Self {
        Self { dashed: true, ..self }
    }
}

impl Plotted {
    /// Converts a position on the axes to CSS pixels.
    pub fn at(&self, (x, bytes): Point) -> Point {
        let Rect { width, height, .. } = self.plot;
        (self.plot.x + self.x.fraction(x) * width, self.plot.bottom() - self.y.fraction(bytes) * height)
    }

    /// Draws a dashed line from edge to edge at a number of bytes.
    pub fn level(&mut self, bytes: f64, color: Color) {
        let y = super::op::crisp(self.at((self.x.start, bytes)).1);
        self.ops.push(Op::dashed([(self.plot.x, y), (self.plot.right(), y)], 1.5, color));
    }

    /// Draws a dashed line from bottom to top at a position of the horizontal axis.
    pub fn upright(&mut self, x: f64, color: Color) {
        let x = super::op::crisp(self.at((x, self.y.start)).0);
        self.ops.push(Op::dashed([(x, self.plot.y), (x, self.plot.bottom())], 1.5, color));
    }

    /// Fills the area below values, each of which holds up to the next one and the last one up to `end`.
    ///
    /// It is made of columns of whole pixels, as high as the highest of the values that begin in them: a browser without
    /// a graphics card fills thousands of rectangles in the time of one polygon with as many corners.
    pub fn fill_columns(&mut self, values: impl Iterator<Item = Point>, end: f64, color: Color) {
        let mut boxes: Vec<Rect> = Vec::new();
        let edge = |x: f64| self.at((x, self.y.start)).0.round();
        for (x, bytes) in values {
            let (left, top) = (edge(x), self.at((x, bytes)).1);
            match boxes.last_mut() {
                Some(last) if last.x == left => *last = Rect::new(left, last.y.min(top), 0.0, 0.0),
                _ => boxes.push(Rect::new(left, top, 0.0, 0.0)),
            }
        }
        let mut right = edge(end);
        for column in boxes.iter_mut().rev() {
            *column = Rect::new(column.x, column.y, (right - column.x).max(1.0), self.plot.bottom() - column.y);
            right = column.x;
        }
        self.ops.push(Op::Boxes { boxes, color });
    }
}

/// Returns the corners of a line that is level from each value to the next and ends at `end`.
///
/// Neighbours of equal height share a corner, so that a long level line has two.
pub fn steps(values: impl Iterator<Item = Point>, end: f64) -> Vec<Point> {
    let mut corners: Vec<Point> = Vec::new();
    for (x, y) in values {
        match corners.last() {
            Some(&(_, before)) if before == y => continue,
            Some(&(_, before)) => corners.extend([(x, before), (x, y)]),
            None => corners.push((x, y)),
        }
    }
    corners.extend(corners.last().map(|&(_, y)| (end, y)));
    corners
}

/// Returns the corners of a line with a level part for each of several equal parts of an axis from 0 to 1.
pub fn columns(values: impl ExactSizeIterator<Item = u64>) -> Vec<Point> {
    let count = values.len().max(1) as f64;
    steps(values.enumerate().map(|(column, bytes)| (column as f64 / count, bytes as f64)), 1.0)
}

fn rgba(color: Color) -> RGBAColor {
    let [red, green, blue] = color.channels();
    RGBAColor(red, green, blue, f64::from(color.alpha))
}

#[cfg(test)]
mod tests;

/// Minimum distance of two labels of bytes, as a multiple of their height.
const BETWEEN_BYTES: f64 = 3.1;

#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Shown values, from the left or the bottom.
    pub range: Span,
    pub labels: Labels,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    None,
    /// Round numbers of bytes.
    Bytes,
    /// The given labels, without those that would overlap an earlier one or the end of the axis.
    Given(Vec<Tick>),
}

impl Axis {
    /// Creates an axis from 0 to 1 without labels.
    pub fn bare() -> Self {
        Self { range: Span::new(0.0, 1.0), labels: Labels::None }
    }

    /// Creates a labelled axis from 0 to slightly above a number of bytes.
    pub fn bytes(highest: u64) -> Self {
        Self { range: Span::new(0.0, (highest as f64 * 1.06).max(1.0)), labels: Labels::Bytes }
    }

    /// Returns the axis for a length in CSS pixels.
    fn scale(&self, length: f64, font: Font) -> Scale {
        let ticks = match &self.labels {
            Labels::None => Vec::new(),
            Labels::Bytes => byte_ticks(self.range, self.range.len() * BETWEEN_BYTES * font.size / length),
            Labels::Given(ticks) => self.fitting(ticks, length, font),
        };
        Scale { range: self.range, ticks }
    }

    /// Returns the labels that fit next to each other, the first ones first.
    fn fitting(&self, ticks: &[Tick], length: f64, font: Font) -> Vec<Tick> {
        let mut end = f64::NEG_INFINITY;
        let mut fitting = Vec::new();
        for tick in ticks {
            let (middle, half) = (self.range.fraction(tick.value) * length, font.width(&tick.label) / 2.0);
            if middle - half > end && middle + half <= length + font.size {
                end = middle + half + font.size;
                fitting.push(tick.clone());
            }
        }
        fitting
    }
}

/// Axis as plotters uses it.
struct Scale {
    range: Span,
    ticks: Vec<Tick>,
}

impl Ranged for Scale {
    type ValueType = f64;
    type FormatOption = NoDefaultFormatting;

    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        let share = if self.range.is_empty() { 0.5 } else { self.range.fraction(*value) };
        start + (share * f64::from(end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // plotters also asks for points between the labels.
        let is_between = hint.weight().allow_light_points();
        if is_between { Vec::new() } else { self.ticks.iter().map(|tick| tick.value).collect() }
    }

    fn range(&self) -> Range<f64> {
        self.range.start..self.range.end
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        self.ticks.iter().find(|tick| tick.value == *value).map_or_else(String::new, |tick| tick.label.clone())
    }
}
