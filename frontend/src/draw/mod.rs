//! Cameras, gestures and the arrangement of drawings that several views share, without a browser.
//!
//! Everything here is pure and tested natively; `platform` carries out the operations of `shared::draw` on a canvas.

pub mod scrolling;

pub mod camera;
pub mod gesture;
pub mod glide;

pub mod layout;

pub mod curves;

pub use shared::draw::{chart, color, op, rect, shade, sketch, span, svg, theme, ticks};
