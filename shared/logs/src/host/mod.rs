//! Reads and judges logs of host memory: what `ps`, `top` and other tools print about processes over time.
//!
//! A snapshot shows GPU memory of one process; host memory that climbs is seen from outside, by sampling.

mod arenas;
mod climb;
mod containers;
mod head;
mod kinds;
mod log;
mod machine;
mod oddities;
mod proc;
mod queue;
mod reader;
mod report;
mod row;
mod shm;
mod teeth;
mod usage;
mod wandb;

#[cfg(test)]
mod tests;

pub use arenas::{ArenaHolder, arena_holder};
pub use climb::{Climb, Climber, climb_of, curve_climb, file_climb, machine_climb};
pub use kinds::{Family, families, most_bytes, sums};
pub use log::{
    Clock, Container, HostForm, HostLog, Killer, LeftFiles, Machine, Mapping, Parts, Process, SharedFolder, Total,
    TotalSource,
};
pub use queue::{SharedClimb, SharedPeak, shared_climb, shared_peak, unmapped};
pub use reader::HostReader;
pub(super) use report::{course, when_full};
pub(super) use row::is_row;
