//! Drawing operations, cameras and gestures that several views share, without a browser.
//!
//! Everything here is pure and tested natively; `platform` executes the operations on a canvas, and `svg` writes them
//! to a file.

pub mod scrolling;

pub mod camera;
pub mod gesture;
pub mod glide;

pub mod layout;
pub mod overlay;

pub mod curves;
pub mod svg;
pub use shared::draw::{color, shade, span, theme, ticks};
