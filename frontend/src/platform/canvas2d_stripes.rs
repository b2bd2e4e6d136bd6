//! The patterns of bands that are no single allocation, for the plain canvas.

use super::canvas2d::context_of;
use crate::draw::{shade, theme::Theme};
use wasm_bindgen::JsCast;
use web_sys::{CanvasPattern, CanvasRenderingContext2d, HtmlCanvasElement};

/// What the graphics card computes for each pixel, as tiles.
pub(super) struct Stripes {
    /// Memory from before the trace.
    pub(super) initial: CanvasPattern,
    /// Merged allocations.
    pub(super) merged: CanvasPattern,
}

impl Stripes {
    /// The patterns of a theme.
    pub(super) fn new(sibling: &HtmlCanvasElement, theme: &Theme, pixel_ratio: f64) -> Option<Self> {
        let hatch = (shade::HATCH_PERIOD * pixel_ratio).round().max(2.0);
        let initial = tiled(sibling, (hatch, hatch), |context| {
            context.set_fill_style_str(&theme.initial.css());
            context.fill_rect(0.0, 0.0, hatch, hatch);
            context.set_stroke_style_str(&theme.initial_hatch.css());
            context.set_line_width(1.3 * pixel_ratio);
            for from in [-hatch, 0.0, hatch] {
                context.begin_path();
                context.move_to(from, 0.0);
                context.line_to(from + hatch, hatch);
                context.stroke();
            }
        })?;
        let (period, line) = ((shade::LINE_PERIOD * pixel_ratio).round().max(2.0), pixel_ratio.round().max(1.0));
        let merged = tiled(sibling, (1.0, period), |context| {
            context.set_fill_style_str(&theme.merged.css());
            context.fill_rect(0.0, 0.0, 1.0, period);
            context.set_fill_style_str(&theme.merged_lines.css());
            context.fill_rect(0.0, period - line, 1.0, line);
        })?;
        Some(Self { initial, merged })
    }
}

fn tiled(
    sibling: &HtmlCanvasElement,
    (width, height): (f64, f64),
    draw: impl FnOnce(&CanvasRenderingContext2d),
) -> Option<CanvasPattern> {
    let (tile, context) = new_canvas(sibling, width as u32, height as u32)?;
    draw(&context);
    context.create_pattern_with_html_canvas_element(&tile, "repeat").ok()?
}

/// A canvas that is not in the page, and its context.
pub(super) fn new_canvas(
    sibling: &HtmlCanvasElement,
    width: u32,
    height: u32,
) -> Option<(HtmlCanvasElement, CanvasRenderingContext2d)> {
    let canvas: HtmlCanvasElement = sibling.owner_document()?.create_element("canvas").ok()?.dyn_into().ok()?;
    canvas.set_width(width);
    canvas.set_height(height);
    let context = context_of(&canvas)?;
    Some((canvas, context))
}
