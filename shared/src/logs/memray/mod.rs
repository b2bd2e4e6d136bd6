//! Reads what memray writes about memory of the host: its captures, `memray stats --json` and `memray transform csv`.

mod capture;
mod cursor;
mod frames;
mod header;
mod heap;
mod lines;
mod lz4;
mod origin;
mod reader;
mod record;
mod report;
mod stats;
mod table;

pub use capture::{Capture, Ending, Sample};
pub use header::{FORMATS, Header, Python};
pub use origin::{Origin, OriginMemory, Origins, Place};
pub use reader::{Memray, MemrayReader};
pub use record::Amount;
pub use stats::{LocationCount, LocationSize, Metadata, Module, SizeRange, Stats};
pub use table::Table;

#[cfg(test)]
mod tests;
