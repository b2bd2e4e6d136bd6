//! Interface of the painters of the plot, and the choice among them.

use crate::ask::PictureData;
use crate::views::timeline::draw::plan::Layer;
use crate::views::timeline::draw::scene::Frame;
use std::rc::Rc;
use web_sys::HtmlCanvasElement;

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
