//! Painters of the timeline, which draw its pictures on a canvas, with WebGL2 or without.

mod canvas2d;
mod minimap;
mod open;
mod painter;
mod webgl;
mod webgl_image;
mod webgl_program;
mod webgl_shaders;

pub use minimap::paint_minimap;
pub use open::{open_painter, painter_choice};
pub use painter::{Painter, PainterChoice};
