//! The timeline as numbers and drawing operations, without a browser.
//!
//! Everything here is pure and tested natively; `platform` carries the operations out.

pub mod camera;
pub mod glide;
pub mod history;
pub mod span;
pub mod ticks;

pub mod color;
pub mod theme;

pub mod bands;
pub mod layout;
pub mod overlay;
pub mod plan;
pub mod scene;

pub mod axes;
pub mod lane;
pub mod minimap;
