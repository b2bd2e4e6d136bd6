//! Draws the memory of a job as a chart with plotters.
//!
//! Texts are drawn but never measured, because in a browser plotters measures text with an inline style, which the
//! content security policy forbids. The positions of labels are therefore computed here, and plotters' own axes are not
//! used.

use super::course::Course;
use frontend::draw::color::Color;
use frontend::draw::span::Span;
use frontend::draw::theme::Theme;
use frontend::draw::ticks::{Tick, byte_ticks};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::element::{Circle, PathElement, Text};
use plotters::prelude::{
    AreaSeries, Cartesian2d, ChartBuilder, ChartContext, DrawingArea, DrawingAreaErrorKind, DrawingBackend, LineSeries,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, IntoFont, RGBAColor, ShapeStyle, TextStyle};
use shared::base::format;
use std::rc::Rc;

/// Width reserved for the labels of bytes, in CSS pixels.
const LEFT: u32 = 64;
/// Height reserved for the labels of steps, in CSS pixels.
const BOTTOM: u32 = 22;
/// Height reserved above the top line for the card's label, in CSS pixels.
const TOP: u32 = 14;
/// Minimum distance of two labels of bytes, in CSS pixels.
const BETWEEN_BYTES: f64 = 34.0;
/// Minimum distance of two labels of steps, in CSS pixels, since step numbers may have five digits.
const BETWEEN_STEPS: f64 = 66.0;
/// Height of the labels, in CSS pixels.
const TEXT: f64 = 11.0;
/// Radius of the point on the peak, in CSS pixels.
const POINT: f64 = 3.0;

/// Chart with its axes laid out for a given size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chart {
    course: Rc<Course>,
    /// Memory of the card, in bytes, if the chart reaches up to it.
    capacity_bytes: Option<u64>,
    /// Upper end of the y axis, in bytes.
    top_bytes: f64,
    /// Labels of the y axis.
    bytes: Vec<Tick>,
    /// Labels of the x axis: starts of as many steps as there is room for.
    steps: Vec<Tick>,
}

impl Chart {
    /// Lays out a chart for a size in CSS pixels.
    ///
    /// The card's memory is shown only once a quarter of it is in use, because otherwise it would flatten the curve.
    pub(crate) fn new(course: Rc<Course>, memory_bytes: Option<u64>, (width, height): (f64, f64)) -> Self {
        let highest = course.peak_live_bytes().max(course.peak_reserved_bytes());
        let capacity_bytes = memory_bytes.filter(|memory| highest >= memory / 4);
        let top_bytes = (highest.max(capacity_bytes.unwrap_or(0)) as f64 * 1.08).max(1.0);
        let plot_height = (height - f64::from(TOP + BOTTOM)).max(1.0);
        Self {
            bytes: byte_ticks(Span::new(0.0, top_bytes), top_bytes * BETWEEN_BYTES / plot_height),
            steps: step_ticks(&course, (width - f64::from(LEFT)).max(1.0)),
            course,
            capacity_bytes,
            top_bytes,
        }
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

    fn end(&self) -> f64 {
        self.course.parts.len().max(1) as f64
    }

    /// Returns the larger of live and reserved bytes at position `at`, in parts.
    fn bytes_around(&self, at: f64) -> u64 {
        self.course.parts.get(at as usize).map_or(0, |&(live, reserved)| live.max(reserved))
    }

    /// Returns the corners of a stepped line.
    fn corners(&self, bytes: fn(&(u64, u64)) -> u64) -> Vec<(f64, f64)> {
        let corner = |(index, part): (usize, &(u64, u64))| {
            let (x, y) = (index as f64, bytes(part) as f64);
            [(x, y), (x + 1.0, y)]
        };
        self.course.parts.iter().enumerate().flat_map(corner).collect()
    }
}

/// Returns the starts of as many steps as there is room for.
fn step_ticks(course: &Course, width: f64) -> Vec<Tick> {
    let parts = course.parts.len();
    let pixel = width / parts.max(1) as f64;
    let mut ticks: Vec<Tick> = Vec::new();
    for &(value, step) in &course.steps {
        let has_room = (parts as f64 - value) * pixel >= BETWEEN_STEPS;
        if has_room && ticks.last().is_none_or(|last| (value - last.value) * pixel >= BETWEEN_STEPS) {
            ticks.push(Tick { value, label: format!("step {}", step + 1) });
        }
    }
    ticks
}

type Plot<'a, B> = ChartContext<'a, B, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// Draws a chart over the whole of `area`, where `ratio` is the number of device pixels per CSS pixel.
///
/// # Errors
/// Returns an error if the backend fails to draw.
pub(crate) fn draw<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    chart: &Chart,
    theme: &Theme,
    ratio: f64,
) -> Drawn<B> {
    let scaled = |pixels: u32| (f64::from(pixels) * ratio).round() as u32;
    let mut plot = ChartBuilder::on(area)
        .margin_top(scaled(TOP))
        .margin_bottom(scaled(BOTTOM))
        .margin_left(scaled(LEFT))
        .build_cartesian_2d(0.0..chart.end(), 0.0..chart.top_bytes)?;
    draw_grid(&mut plot, chart, theme, ratio)?;
    draw_curves(&mut plot, chart, theme, ratio)?;
    draw_marks(&mut plot, chart, theme, ratio)?;
    draw_labels(area, &plot, chart, theme, ratio)?;
    area.present()
}

fn draw_grid<B: DrawingBackend>(plot: &mut Plot<'_, B>, chart: &Chart, theme: &Theme, ratio: f64) -> Drawn<B> {
    let line = stroke(theme.grid, ratio);
    let rows = chart.bytes.iter().map(|tick| vec![(0.0, tick.value), (chart.end(), tick.value)]);
    let columns = chart.steps.iter().map(|tick| vec![(tick.value, 0.0), (tick.value, chart.top_bytes)]);
    plot.draw_series(rows.chain(columns).map(|points| PathElement::new(points, line)))?;
    Ok(())
}

fn draw_curves<B: DrawingBackend>(plot: &mut Plot<'_, B>, chart: &Chart, theme: &Theme, ratio: f64) -> Drawn<B> {
    let fill = rgba(theme.accent.with_alpha(0.24));
    let edge = stroke(theme.accent, ratio);
    plot.draw_series(AreaSeries::new(chart.corners(|part| part.0), 0.0, fill).border_style(edge))?;
    let reserved = stroke(theme.reserved, 1.5 * ratio);
    plot.draw_series(LineSeries::new(chart.corners(|part| part.1), reserved))?;
    if let Some(capacity) = chart.capacity_bytes {
        let points = vec![(0.0, capacity as f64), (chart.end(), capacity as f64)];
        plot.draw_series([PathElement::new(points, stroke(theme.oom, 1.5 * ratio))])?;
    }
    Ok(())
}

/// Draws a line at each out-of-memory error and a point on the peak.
fn draw_marks<B: DrawingBackend>(plot: &mut Plot<'_, B>, chart: &Chart, theme: &Theme, ratio: f64) -> Drawn<B> {
    let line = stroke(theme.oom, 1.5 * ratio);
    let lines = chart.course.ooms.iter().map(|&x| PathElement::new(vec![(x, 0.0), (x, chart.top_bytes)], line));
    plot.draw_series(lines)?;
    let peak = chart.course.peak.map(|x| (x, chart.course.peak_live_bytes() as f64));
    plot.draw_series(
        peak.map(|place| Circle::new(place, (POINT * ratio).round() as i32, rgba(theme.accent).filled())),
    )?;
    Ok(())
}

fn draw_labels<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    plot: &Plot<'_, B>,
    chart: &Chart,
    theme: &Theme,
    ratio: f64,
) -> Drawn<B> {
    let style = |color: Color, h_pos, v_pos| {
        let plain = TextStyle::from(("sans-serif", TEXT * ratio).into_font());
        TextStyle { color: rgba(color).to_backend_color(), pos: Pos::new(h_pos, v_pos), ..plain }
    };
    let gap = (6.0 * ratio) as i32;
    let labels = style(theme.text_muted, HPos::Right, VPos::Center);
    for tick in &chart.bytes {
        let (x, y) = plot.backend_coord(&(0.0, tick.value));
        area.draw(&Text::new(tick.label.as_str(), (x - gap, y), labels.clone()))?;
    }
    let labels = style(theme.text_muted, HPos::Left, VPos::Top);
    for tick in &chart.steps {
        let (x, y) = plot.backend_coord(&(tick.value, 0.0));
        area.draw(&Text::new(tick.label.as_str(), (x, y + gap), labels.clone()))?;
    }
    if let Some(capacity) = chart.capacity_bytes {
        let (x, y) = plot.backend_coord(&(chart.end(), capacity as f64));
        let label = format!("GPU memory {}", format::bytes(capacity));
        area.draw(&Text::new(label, (x - gap, y - gap / 3), style(theme.oom, HPos::Right, VPos::Bottom)))?;
    }
    // Labels stand next to their marks, on the side that has room.
    let beside = |x: f64| if x > chart.end() / 2.0 { (HPos::Right, -gap) } else { (HPos::Left, gap) };
    if let Some(&at) = chart.course.ooms.first() {
        let ((x, y), (side, gap)) = (plot.backend_coord(&(at, 0.0)), beside(at));
        area.draw(&Text::new("out of memory", (x + gap, y - gap.abs()), style(theme.oom, side, VPos::Bottom)))?;
    }
    if let Some(at) = chart.course.peak {
        let (side, gap) = beside(at);
        let (high, peak_bytes) =
            (plot.backend_coord(&(at, chart.bytes_around(at) as f64)), chart.course.peak_live_bytes());
        let card = chart.capacity_bytes.map(|capacity| plot.backend_coord(&(at, capacity as f64)).1);
        // The label stands above both curves unless the card's line is there.
        let has_room = card.is_none_or(|card| high.1 - card > (2.0 * TEXT * ratio) as i32);
        let (y, v_pos) = match has_room {
            true => (high.1 - gap.abs() / 2, VPos::Bottom),
            false => (plot.backend_coord(&(at, peak_bytes as f64)).1 + gap.abs(), VPos::Top),
        };
        let label = format!("peak live {}", format::bytes(peak_bytes));
        area.draw(&Text::new(label, (high.0 + gap, y), style(theme.text, side, v_pos)))?;
    }
    Ok(())
}

fn stroke(color: Color, width: f64) -> ShapeStyle {
    rgba(color).stroke_width(width.round().max(1.0) as u32)
}

fn rgba(color: Color) -> RGBAColor {
    let [red, green, blue] = color.channels();
    RGBAColor(red, green, blue, f64::from(color.alpha))
}

#[cfg(test)]
mod tests;
