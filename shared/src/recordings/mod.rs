//! Answers about several recordings of one config: the largest batch that fits, and a table and a plot of all results.
//!
//! The command line, the files that it writes and the page of a job render them.

mod fit;
mod plot;
mod table;

pub use fit::{answer, frontier, named, notes, probes, proof};
pub use plot::{Peaks, svg};
pub use table::{Table, place, table};
