//! The command line and the web server of Snapscope.
//!
//! It is a library next to the binary so that tests run the same app as `snapscope serve`.
//!
//! Invariant: the server never sees a snapshot that a person opens, because the page decodes it in the browser; it sees
//! only what a person shares.

mod built_pages;
mod canvas;
pub mod commands;
pub mod config;
pub mod database;
pub mod decoding;
pub mod failure;
mod folder;
mod hex;
pub mod housekeeping;
pub mod installation;
pub mod jobs;
mod log;
pub mod recording;
pub mod scratch;
pub mod serve;
pub mod shares;
mod snapshot_file;
pub mod snapshots;
pub mod store;
mod units;
mod virtual_gpu;

pub use built_pages::BuiltPages;
pub use failure::Failure;
