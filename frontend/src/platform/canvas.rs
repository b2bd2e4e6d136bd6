//! Canvases that are drawn in two dimensions.

use js_sys::{Object, Reflect};
use std::cell::OnceCell;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

thread_local! {
    /// True if the processor draws everything.
    static IS_SOFTWARE: OnceCell<bool> = const { OnceCell::new() };
}

/// Returns the 2D context of a canvas, which is kept in the page's memory on a machine without a graphics card.
///
/// There Chromium emulates one even for lines and text, which takes twice as long as drawing them.
/// The first call for a canvas makes the choice.
pub fn context_of(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    context_with(canvas, true)
}

/// Returns the same for a canvas without transparent parts, which the browser need not blend with what is behind.
pub fn opaque_context_of(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    context_with(canvas, false)
}

fn context_with(canvas: &HtmlCanvasElement, alpha: bool) -> Option<CanvasRenderingContext2d> {
    let is_software = IS_SOFTWARE.with(|known| *known.get_or_init(|| !has_graphics_card(canvas)));
    context(canvas, "2d", &[("willReadFrequently", is_software), ("alpha", alpha)])?.dyn_into().ok()
}

/// Returns true if the browser would draw WebGL with a graphics card, which it refuses to emulate when told so.
fn has_graphics_card(canvas: &HtmlCanvasElement) -> bool {
    let trial = sibling_of(canvas);
    trial.is_some_and(|trial| context(&trial, "webgl2", &[("failIfMajorPerformanceCaveat", true)]).is_some())
}

fn context(canvas: &HtmlCanvasElement, kind: &str, options: &[(&str, bool)]) -> Option<Object> {
    canvas.get_context_with_context_options(kind, &context_options(options)?).ok()?
}

/// Returns the options of a canvas's context as the browser takes them.
pub fn context_options(options: &[(&str, bool)]) -> Option<JsValue> {
    let object = Object::new();
    for &(name, value) in options {
        Reflect::set(&object, &name.into(), &value.into()).ok()?;
    }
    Some(object.into())
}

/// Creates a canvas that is not part of the page.
pub fn sibling_of(canvas: &HtmlCanvasElement) -> Option<HtmlCanvasElement> {
    canvas.owner_document()?.create_element("canvas").ok()?.dyn_into().ok()
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
