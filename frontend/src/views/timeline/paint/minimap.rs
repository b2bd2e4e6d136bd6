//! Draws the minimap's chart with plotters.

use crate::ask::PictureData;
use crate::draw::theme::Theme;
use crate::platform::{context_of, fit_canvas};
use crate::views::timeline::draw::minimap::draw_chart;
use plotters::prelude::IntoDrawingArea;
use plotters_canvas::CanvasBackend;
use web_sys::HtmlCanvasElement;

/// Draws the outline of the whole trace on a canvas of this size in CSS pixels.
pub fn paint_minimap(
    canvas: &HtmlCanvasElement,
    size: (f64, f64),
    pixel_ratio: f64,
    outline: &PictureData,
    theme: &Theme,
) {
    fit_canvas(canvas, size.0, size.1, pixel_ratio);
    let Some(context) = context_of(canvas, false) else { return };
    context.clear_rect(0.0, 0.0, f64::from(canvas.width()), f64::from(canvas.height()));
    let Some(backend) = CanvasBackend::with_canvas_object(canvas.clone()) else { return };
    // The canvas backend does not fail once there is a context, and a minimap without its chart still works.
    let _ = draw_chart(&backend.into_drawing_area(), &outline.live, &outline.reserved, theme);
}
