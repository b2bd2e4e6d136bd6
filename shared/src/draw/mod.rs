//! Provides colours, ranges, ticks and layouts for pictures of memory, the same on the page and in exports.
//!
//! Invariant: this module only computes numbers and names; nothing here draws.

pub mod span;
pub mod ticks;

pub mod color;
pub mod theme;

pub mod flame;
pub mod segment_lines;

pub mod pixels;
pub mod shade;
