//! The command line and the web server of Snapscope.
//!
//! It is a library next to the binary so that tests run the same app as `snapscope serve`.

mod byte_axis;

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

pub mod repro;

pub mod scratch;

pub mod serve;

pub mod shares;

pub mod snapshots;

pub mod store;

pub mod sweep;

pub mod worker;

pub use failure::Failure;
