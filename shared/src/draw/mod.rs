//! Provides the operations that drawings consist of, and the colours, ticks, layouts and charts that make them.
//!
//! Everything is the same on the page and in exports.
//!
//! Invariant: nothing here knows a screen, a file or a trace; a drawing is a list of operations until something else
//! carries them out.

pub mod rect;

pub mod span;
pub mod ticks;

pub mod color;
pub mod scheme;
pub mod theme;

pub mod op;
pub mod sketch;
pub mod svg;

pub mod chart;

pub mod flame;
pub mod segment_lines;
pub mod segment_parts;

pub mod pixels;
pub mod shade;

pub use color::Color;
pub use op::{Align, Font, Op, Point};
pub use rect::Rect;
pub use sketch::Sketch;
pub use span::Span;
pub use theme::Theme;
