//! Whole pages.

mod app;

pub(crate) use app::App;
