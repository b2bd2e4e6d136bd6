//! What draws bands and outlines into the plot.

use super::{canvas2d::CanvasPainter, webgl::WebGlPainter};
use crate::{
    draw::{plan::Layer, scene::Frame},
    worker::PictureData,
};
use js_sys::{Object, Reflect};
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CanvasRenderingContext2d, Element, HtmlCanvasElement};

/// Something that keeps two pictures and lays them over the plot, frame by frame.
pub trait Painter {
    /// The name for tests and reports.
    fn name(&self) -> &'static str;
    /// Whether the browser has no graphics card, so that pixels are better drawn by the page than handed on.
    fn is_software(&self) -> bool;
    /// The canvas that it draws into.
    fn canvas(&self) -> &HtmlCanvasElement;
    /// Takes a picture in place of the layer's last one.
    fn upload(&mut self, layer: Layer, picture: &Rc<PictureData>, frame: &Frame<'_>);
    /// Draws a frame.
    fn paint(&mut self, frame: &Frame<'_>);
}

/// Which painter to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PainterChoice {
    /// WebGL2 on a graphics card, else the plain canvas: a processor that plays graphics card makes the page wait.
    Best,
    /// WebGL2, whoever computes it.
    WebGl,
    /// The plain canvas, as after a lost context.
    Canvas,
}

/// Puts a canvas into `host` and chooses how to draw into it.
///
/// Where the choice can't be had, the plain canvas serves.
/// A canvas never changes its kind of context: each painter has its own.
///
/// # Errors
/// If the document gives neither kind of context.
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

/// An empty canvas as the only child of `host`.
fn new_canvas(host: &Element) -> Option<HtmlCanvasElement> {
    let canvas: HtmlCanvasElement = host.owner_document()?.create_element("canvas").ok()?.dyn_into().ok()?;
    canvas.set_class_name("timeline-canvas");
    host.replace_children_with_node_1(&canvas);
    Some(canvas)
}

/// The 2D context of a canvas, kept in the page's own memory if it `is_software`.
///
/// Without a graphics card Chromium emulates one even for lines and text, which costs twice as much as drawing them.
/// The choice is made by the first call for a canvas.
pub(super) fn context_of(canvas: &HtmlCanvasElement, is_software: bool) -> Option<CanvasRenderingContext2d> {
    let options = Object::new();
    Reflect::set(&options, &JsValue::from_str("willReadFrequently"), &JsValue::from_bool(is_software)).ok()?;
    canvas.get_context_with_context_options("2d", &options).ok()??.dyn_into().ok()
}

/// Gives a canvas as many pixels as it covers; setting the same size again would clear it for nothing.
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
