//! The floors that are made for speed: from bytes to the columns of a trace, and from there to lifetimes and pictures.
//!
//! The browser's module compiles them for speed and everything above for size; `shared` offers both.

pub mod base;

pub mod pickle;

pub mod trace;

pub mod import;

pub mod allocator;

pub mod analysis;
