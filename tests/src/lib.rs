//! What the tests of Snapscope share.

pub mod browser;

pub mod generator;

pub mod server;
