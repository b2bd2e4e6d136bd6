//! What the tests of Snapscope share.

pub mod browser;

pub mod corpus;

pub mod cpython;

pub mod equal;

pub mod generator;

pub mod server;
