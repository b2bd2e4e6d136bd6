//! The pure core of Snapscope, for native programs and for WebAssembly.
//!
//! It takes bytes and values and returns values: no file, clock, thread or network is touched here.
//! The modules below stand in the order in which data flows through them.
//!
//! Invariant: no input makes it panic, and nothing here reads the environment; progress is the number of bytes pushed
//! so far.

pub use foundation::{allocator, base, import, pickle, trace};
pub use foundation::{codes, names, schema_of_names, serde_of_names};

pub mod analysis;

pub mod report;

pub mod source;

pub mod draw;

pub mod export;

pub mod api;

pub mod recordings;

pub use ::job;
