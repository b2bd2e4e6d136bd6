//! The memory of a running job as a chart, drawn by plotters.
//!
//! Texts are drawn but never measured: in a browser plotters measures with an inline style, which the security policy
//! forbids. So places of labels come from here, and not from plotters' own axes.

use crate::state::Sample;
use frontend::draw::color::Color;
use frontend::draw::span::Span;
use frontend::draw::theme::Theme;
use frontend::draw::ticks::{Tick, byte_ticks};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::element::{PathElement, Text};
use plotters::prelude::{
    AreaSeries, Cartesian2d, ChartBuilder, ChartContext, DrawingArea, DrawingAreaErrorKind, DrawingBackend, LineSeries,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, IntoFont, RGBAColor, ShapeStyle, TextStyle};

/// Room for the labels of bytes, in CSS pixels.
const LEFT: u32 = 64;
/// Room for the labels of steps.
const BOTTOM: u32 = 22;
/// Room above the top line, where the card's label may stand.
const TOP: u32 = 14;
/// Pixels between two labels of bytes, at least.
const BETWEEN_BYTES: f64 = 34.0;
/// Pixels between two labels of steps, at least: they may have five digits.
const BETWEEN_STEPS: f64 = 66.0;
/// Height of the labels.
const TEXT: f64 = 11.0;

/// A chart that is ready to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chart {
    /// The curve.
    samples: Vec<Sample>,
    /// Memory of the card, where it is in sight.
    capacity_bytes: Option<u64>,
    /// The height of the y axis.
    top_bytes: f64,
    /// Labels of the y axis.
    bytes: Vec<Tick>,
    /// Where steps begin.
    steps: Vec<Tick>,
}

impl Chart {
    /// A chart of a size in CSS pixels.
    ///
    /// The card's memory is in sight once a quarter of it is reserved: else it would press the curve flat.
    pub(crate) fn new(samples: &[Sample], memory_bytes: Option<u64>, (width, height): (f64, f64)) -> Self {
        let highest = samples.iter().map(|sample| sample.live_bytes.max(sample.reserved_bytes)).max().unwrap_or(0);
        let capacity_bytes = memory_bytes.filter(|memory| highest >= memory / 4);
        let top_bytes = (highest.max(capacity_bytes.unwrap_or(0)) as f64 * 1.08).max(1.0);
        let plot_height = (height - f64::from(TOP + BOTTOM)).max(1.0);
        Self {
            bytes: byte_ticks(Span::new(0.0, top_bytes), top_bytes * BETWEEN_BYTES / plot_height),
            steps: step_ticks(samples, (width - f64::from(LEFT)).max(1.0)),
            samples: samples.to_vec(),
            capacity_bytes,
            top_bytes,
        }
    }

    /// Whether the line of the card's memory is in sight.
    pub(crate) fn has_capacity(&self) -> bool {
        self.capacity_bytes.is_some()
    }

    /// What a screen reader says instead.
    pub(crate) fn spoken(&self) -> String {
        let highest =
            |bytes: fn(&Sample) -> u64| shared::base::format::bytes(self.samples.iter().map(bytes).max().unwrap_or(0));
        let (live, reserved) = (highest(|sample| sample.live_bytes), highest(|sample| sample.reserved_bytes));
        format!("Memory over the run: at most {live} live and {reserved} reserved")
    }

    fn end(&self) -> f64 {
        self.samples.len().max(1) as f64
    }

    /// Corners of a stepped line.
    fn corners(&self, bytes: fn(&Sample) -> u64) -> Vec<(f64, f64)> {
        let corner = |(index, sample): (usize, &Sample)| {
            let (x, y) = (index as f64, bytes(sample) as f64);
            [(x, y), (x + 1.0, y)]
        };
        self.samples.iter().enumerate().flat_map(corner).collect()
    }
}

/// Where steps begin, as many as have room.
fn step_ticks(samples: &[Sample], width: f64) -> Vec<Tick> {
    let pixel = width / samples.len().max(1) as f64;
    let mut ticks: Vec<Tick> = Vec::new();
    let mut step = None;
    for (index, sample) in samples.iter().enumerate() {
        let is_new = sample.step > step;
        step = step.max(sample.step);
        let (Some(number), true) = (sample.step, is_new) else { continue };
        let value = index as f64;
        let has_room = (samples.len() as f64 - value) * pixel >= BETWEEN_STEPS;
        if has_room && ticks.last().is_none_or(|last| (value - last.value) * pixel >= BETWEEN_STEPS) {
            ticks.push(Tick { value, label: format!("step {}", number + 1) });
        }
    }
    ticks
}

type Plot<'a, B> = ChartContext<'a, B, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// Draws a chart over the whole of `area`, whose pixels are `ratio` to a CSS pixel.
///
/// # Errors
/// If the backend can't draw.
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
    plot.draw_series(AreaSeries::new(chart.corners(|sample| sample.live_bytes), 0.0, fill).border_style(edge))?;
    let reserved = stroke(theme.reserved, 1.5 * ratio);
    plot.draw_series(LineSeries::new(chart.corners(|sample| sample.reserved_bytes), reserved))?;
    if let Some(capacity) = chart.capacity_bytes {
        let points = vec![(0.0, capacity as f64), (chart.end(), capacity as f64)];
        plot.draw_series([PathElement::new(points, stroke(theme.oom, 1.5 * ratio))])?;
    }
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
        let label = format!("card {}", shared::base::format::bytes(capacity));
        area.draw(&Text::new(label, (x - gap, y - gap / 3), style(theme.oom, HPos::Right, VPos::Bottom)))?;
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
