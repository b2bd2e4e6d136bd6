//! Opens the painter that suits the machine.

use super::canvas2d::CanvasPainter;
use super::painter::{Painter, PainterChoice};
use super::webgl::WebGlPainter;
use crate::platform::search_param;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlCanvasElement};

/// Returns the painter that the page's address requests, which tests use.
pub fn painter_choice() -> PainterChoice {
    match search_param("renderer").as_deref() {
        Some("canvas") => PainterChoice::Canvas,
        Some("webgl") => PainterChoice::WebGl,
        _ => PainterChoice::Best,
    }
}

/// Puts a canvas into `host` and opens a painter for it.
///
/// If the choice is not available, the canvas 2D context is used. A canvas never changes the kind of its context, so
/// each painter has its own canvas.
///
/// # Errors
/// Returns an error if the document offers neither kind of context.
pub fn open_painter(host: &Element, choice: PainterChoice) -> Result<Box<dyn Painter>, String> {
    let web_gl = new_canvas(host).filter(|_| choice != PainterChoice::Canvas).and_then(WebGlPainter::open);
    let painter: Box<dyn Painter> = match web_gl {
        Some(painter) if choice == PainterChoice::WebGl || !painter.is_software() => Box::new(painter),
        _ => {
            let canvas = new_canvas(host).ok_or("the page has no document to draw in")?;
            Box::new(CanvasPainter::open(canvas).ok_or("the browser offers neither WebGL2 nor a 2D canvas")?)
        }
    };
    Ok(painter)
}

/// Creates an empty canvas as the only child of `host`.
fn new_canvas(host: &Element) -> Option<HtmlCanvasElement> {
    let canvas: HtmlCanvasElement = host.owner_document()?.create_element("canvas").ok()?.dyn_into().ok()?;
    canvas.set_class_name("timeline-canvas");
    host.replace_children_with_node_1(&canvas);
    Some(canvas)
}
