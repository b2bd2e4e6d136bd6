//! The command line and the web server of Snapscope.
//!
//! A library beside the binary, so that the tests drive the same app that `snapscope serve` runs.

pub mod commands;

pub mod config;

pub mod failure;

pub mod repro;

pub mod serve;

pub mod sweep;

pub use failure::Failure;
