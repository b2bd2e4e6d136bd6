//! Reads traces of torch.profiler in Chrome's format, for what they say about memory.
//!
//! With `profile_memory=True`, each allocation and each free of any device is an instant event named `[memory]`, with the
//! allocator's totals. Operators, annotations and, with `with_stack=True`, Python functions are spans beside them.

mod habits;
mod lanes;
mod matching;
mod origin;
mod reader;
mod report;
mod spans;
mod trace;

pub use habits::{Habit, HabitKind, habits};
pub use matching::{Allocated, Made, MadeOn, Maker, Makers, Matches, matches};
pub use reader::{ProfileReader, is_profile};
pub use report::{OperatorsAtPeak, operators_at_peak};
pub use trace::{
    Course, Direction, Lane, LaneKind, LaneSpan, LiveGroup, MemoryEvent, Operation, Origin, Profile, Transfer,
    live_groups,
};

#[cfg(test)]
mod tests;
