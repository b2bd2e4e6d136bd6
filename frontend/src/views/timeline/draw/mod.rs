//! Layout and drawing operations of the timeline, without a browser.

pub mod axes;
pub mod capacity;
pub mod history;
pub mod initial;
pub mod labels;
pub mod lane;
pub mod markers;
pub mod minimap;
pub mod pieces;
mod places;
pub mod plan;
mod rows;
pub mod scene;
pub mod steps;
