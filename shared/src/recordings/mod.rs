//! Answers about several recordings of one training: the largest batch that fits, what makes it fit, and a table and a
//! plot of all results.
//!
//! The command line, the files that it writes and the page of a job render them.

mod csv;
mod fit;
pub mod fix;
mod plot;
pub mod sweep;
mod table;

pub use csv::{fit_csv, sweep_csv};
pub use fit::{answer, frontier, named, notes, probes, proof};
pub use plot::{Peaks, svg};
pub use table::{Table, place, table, value};
