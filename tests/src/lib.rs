//! What the tests of Snapscope share.

pub mod generator;
