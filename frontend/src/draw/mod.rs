//! Cameras, gestures and the arrangement of drawings that several views share, without a browser.
//!
//! Everything here is pure and tested natively; `platform` carries out the operations of `shared::draw` on a canvas.

pub mod scrolling;

pub mod camera;
pub mod gesture;
pub mod glide;

pub mod layout;

pub mod curves;

pub use camera::{Camera, Content, MAX_PICTURE_PX, PlotSize, View};
pub use gesture::{Effect, Gesture, wheel_factor};
pub use glide::Glide;
pub use layout::{LANE_ROW, LANE_ROWS, Layout};
pub use scrolling::row_after;
pub use shared::draw::color::Color;
pub use shared::draw::op::{Align, Font, Op, Point, crisp};
pub use shared::draw::rect::Rect;
pub use shared::draw::sketch::Sketch;
pub use shared::draw::span::Span;
pub use shared::draw::theme::{HUES, Theme};
pub use shared::draw::{chart, color, op, rect, shade, sketch, span, svg, theme, ticks};
