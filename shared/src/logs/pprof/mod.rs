//! Reads memory profiles in the format of pprof: those of `jax.profiler.save_device_memory_profile`, and of other tools.
//!
//! A profile is a message of Protocol Buffers (`profile.proto` of google/pprof), compressed with gzip: samples with values
//! and labels, whose stacks refer to locations, those to functions, and all of them to a table of strings, which may come
//! last.

mod heap;
mod reader;
mod report;
mod tables;
#[cfg(test)]
mod tests;
mod wire;

pub use heap::{HeapProfile, HeapUse};
pub use reader::{HeapReader, is_pprof};
