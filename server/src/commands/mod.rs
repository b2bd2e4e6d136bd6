//! The commands that read snapshots at the terminal.

mod inspect;
mod open;
mod peak;
mod stacks;
mod text;

pub use inspect::InspectArgs;
pub use peak::PeakArgs;
