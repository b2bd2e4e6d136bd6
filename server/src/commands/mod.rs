//! The commands that read and make snapshots at the terminal.

mod inspect;
pub(crate) mod open;
mod peak;
mod repro;
mod stacks;
mod text;

pub use inspect::InspectArgs;
pub use peak::PeakArgs;
pub use repro::ReproArgs;
