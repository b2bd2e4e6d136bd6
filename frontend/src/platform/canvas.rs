//! Canvases that are drawn in two dimensions.

use js_sys::{Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

/// Returns the 2D context of a canvas, which is kept in the page's memory if `is_software`.
///
/// Without a graphics card Chromium emulates one even for lines and text, which takes twice as long as drawing them.
/// The first call for a canvas makes the choice.
pub fn context_of(canvas: &HtmlCanvasElement, is_software: bool) -> Option<CanvasRenderingContext2d> {
    let options = Object::new();
    Reflect::set(&options, &JsValue::from_str("willReadFrequently"), &JsValue::from_bool(is_software)).ok()?;
    canvas.get_context_with_context_options("2d", &options).ok()??.dyn_into().ok()
}

/// Gives a canvas as many device pixels as it covers; an unchanged size is not set again, because that would clear it.
pub fn fit_canvas(canvas: &HtmlCanvasElement, width: f64, height: f64, pixel_ratio: f64) {
    let (width, height) =
        ((width * pixel_ratio).round().max(1.0) as u32, (height * pixel_ratio).round().max(1.0) as u32);
    if canvas.width() != width {
        canvas.set_width(width);
    }
    if canvas.height() != height {
        canvas.set_height(height);
    }
}
