//! Whole pages.

mod app;
mod job;
mod list;
mod new_job;

pub(crate) use app::App;
