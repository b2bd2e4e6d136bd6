//! Tools that measure: the benchmark of the page and the command line, the load on a server, and tasks on the page.

pub mod bench;
pub mod load;
pub mod tasks;

/// Bare opcode scan, the lower bound of decoding, which the benchmarks of `shared` measure as well.
#[path = "../../../shared/benches/support/opcode_scan.rs"]
mod opcode_scan;
