//! Reads traces of torch.profiler in Chrome's format, for what they say about memory.
//!
//! With `profile_memory=True`, each allocation and each free of any device is an instant event named `[memory]`, with the
//! allocator's totals. Operators, annotations and, with `with_stack=True`, Python functions are spans beside them.

mod fields;
mod peak;
mod reader;
mod spans;
mod trace;

pub use peak::{LiveGroup, live_groups};
pub use reader::{ProfileReader, is_profile};
pub use trace::{Course, DeviceKind, MemoryEvent, Profile};

#[cfg(test)]
mod tests;
