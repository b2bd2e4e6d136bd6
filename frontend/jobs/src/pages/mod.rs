//! Pages, each with its own address.

mod app;
mod job;
mod list;
mod new_job;
mod see;

pub(crate) use app::App;
