//! Reads and judges logs of host memory: what `ps`, `top` and other tools print about processes over time.
//!
//! A snapshot shows GPU memory of one process; host memory that climbs is seen from outside, by sampling.

mod cells;
mod climb;
mod head;
mod log;
mod machine;
mod oddities;
mod proc;
mod reader;
mod row;
mod size;
mod teeth;
mod usage;
mod wandb;

#[cfg(test)]
mod tests;

pub use climb::{Climb, Climber, Family, climb_of, families, machine_climb, sums};
pub use log::{Clock, HostForm, HostLog, Kill, Machine, Mapping, Parts, Process, Total, TotalSource};
pub use reader::HostReader;
pub use teeth::Leg;
