//! Whole pages.

mod app;
mod viewer;

pub use app::App;
