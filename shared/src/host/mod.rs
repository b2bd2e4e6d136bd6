//! Reads and judges logs of host memory: what `ps`, `top` and other tools print about processes over time.
//!
//! A snapshot shows GPU memory of one process; host memory that climbs is seen from outside, by sampling.

mod climb;
mod log;
mod machine;
mod reader;
mod row;
mod size;
mod teeth;

pub use climb::{Climb, Climber, Family, climb_of, families, sums};
pub use log::{Clock, HostForm, HostLog, Kill, Process, Total, TotalSource};
pub use reader::HostReader;
pub use teeth::Leg;
