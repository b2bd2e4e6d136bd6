//! Draws the chart of a job on a canvas.

use crate::view::chart::{Chart, draw};
use frontend::draw::theme::Theme;
use frontend::platform::pixel_ratio;
use plotters::prelude::IntoDrawingArea;
use plotters_canvas::CanvasBackend;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

/// Draws a chart on a canvas whose size is given in CSS pixels.
pub(crate) fn paint(canvas: &HtmlCanvasElement, (width, height): (f64, f64), chart: &Chart, theme: &Theme) {
    let ratio = pixel_ratio();
    let device = |pixels: f64| (pixels * ratio).round().max(1.0) as u32;
    // Setting a size clears the canvas too.
    canvas.set_width(device(width));
    canvas.set_height(device(height));
    let has_context =
        canvas.get_context("2d").ok().flatten().is_some_and(|it| it.has_type::<CanvasRenderingContext2d>());
    if !has_context {
        return;
    }
    let Some(backend) = CanvasBackend::with_canvas_object(canvas.clone()) else { return };
    // With a context nothing fails, and the figures and texts beside the chart say the same.
    let _ = draw(&backend.into_drawing_area(), chart, theme, ratio);
}
