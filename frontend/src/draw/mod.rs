//! Timeline, flame graph and segment map as numbers and drawing operations, without a browser.
//!
//! Everything here is pure and tested natively; `platform` executes the operations.

pub mod camera;
pub mod gesture;
pub mod glide;
pub mod history;

pub mod bands;
pub mod layout;
pub mod overlay;
pub mod pieces;
pub mod plan;
pub mod raster;
pub mod scene;

pub mod axes;
pub mod capacity;
pub mod initial;
pub mod labels;
pub mod lane;
pub mod markers;
pub mod minimap;

pub mod curves;
pub mod flame;
pub mod flame_camera;
pub mod flame_rows;
mod rows;
pub mod segment_map;
pub mod steps;
pub mod svg;
pub use shared::draw::{color, shade, span, theme, ticks};
