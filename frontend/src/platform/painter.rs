//! Painters draw bands and outlines into the plot.

use super::{canvas2d::CanvasPainter, webgl::WebGlPainter};
use crate::{
    draw::{plan::Layer, scene::Frame},
    worker::PictureData,
};
use js_sys::{Object, Reflect};
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CanvasRenderingContext2d, Element, HtmlCanvasElement};

/// Renderer that keeps two pictures and places them on the plot in every frame.
pub trait Painter {
    /// Returns the name for tests and reports.
    fn name(&self) -> &'static str;
    /// Returns true without a graphics card, where the page draws pixels faster than it hands them on.
    fn is_software(&self) -> bool;
    /// Returns the canvas that it draws into.
    fn canvas(&self) -> &HtmlCanvasElement;
    /// Replaces the picture of a layer.
    fn upload(&mut self, layer: Layer, picture: &Rc<PictureData>, frame: &Frame<'_>);
    fn paint(&mut self, frame: &Frame<'_>);
}

/// Kind of painter to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PainterChoice {
    /// WebGL2 on a graphics card, else the canvas 2D context, because a software-rendered WebGL2 makes the page wait.
    Best,
    /// WebGL2, whether on a graphics card or in software.
    WebGl,
    /// Canvas 2D context, as after a lost WebGL2 context.
    Canvas,
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

/// Returns the 2D context of a canvas, which is kept in the page's memory if `is_software`.
///
/// Without a graphics card Chromium emulates one even for lines and text, which takes twice as long as drawing them.
/// The first call for a canvas makes the choice.
pub(super) fn context_of(canvas: &HtmlCanvasElement, is_software: bool) -> Option<CanvasRenderingContext2d> {
    let options = Object::new();
    Reflect::set(&options, &JsValue::from_str("willReadFrequently"), &JsValue::from_bool(is_software)).ok()?;
    canvas.get_context_with_context_options("2d", &options).ok()??.dyn_into().ok()
}

/// Gives a canvas as many device pixels as it covers; an unchanged size is not set again, because that would clear it.
pub(super) fn fit_canvas(canvas: &HtmlCanvasElement, width: f64, height: f64, pixel_ratio: f64) {
    let (width, height) =
        ((width * pixel_ratio).round().max(1.0) as u32, (height * pixel_ratio).round().max(1.0) as u32);
    if canvas.width() != width {
        canvas.set_width(width);
    }
    if canvas.height() != height {
        canvas.set_height(height);
    }
}
