//! The stripes on memory from before the trace, for the plain canvas.

use super::painter::context_of;
use crate::draw::{shade, theme::Theme};
use wasm_bindgen::JsCast;
use web_sys::{CanvasPattern, CanvasRenderingContext2d, HtmlCanvasElement};

/// The pattern of memory from before the trace, which the graphics card computes for each pixel.
pub(super) fn initial_pattern(sibling: &HtmlCanvasElement, theme: &Theme, pixel_ratio: f64) -> Option<CanvasPattern> {
    let period = (shade::HATCH_PERIOD * pixel_ratio).round().max(2.0);
    let (tile, context) = new_canvas(sibling, period as u32, period as u32)?;
    context.set_fill_style_str(&theme.initial.css());
    context.fill_rect(0.0, 0.0, period, period);
    context.set_stroke_style_str(&theme.initial_hatch.css());
    context.set_line_width(1.3 * pixel_ratio);
    for from in [-period, 0.0, period] {
        context.begin_path();
        context.move_to(from, 0.0);
        context.line_to(from + period, period);
        context.stroke();
    }
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
    let context = context_of(&canvas, true)?;
    Some((canvas, context))
}
