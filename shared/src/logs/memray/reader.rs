//! Tells apart the files of memray.

use super::capture::{Capture, CaptureReader, is_capture};
use super::stats::{Stats, StatsReader, is_stats};
use super::table::{Table, TableReader, is_table};

/// File of memray.
#[derive(Clone, Debug, PartialEq)]
pub enum Memray {
    Capture(Capture),
    Stats(Stats),
    Table(Table),
}

/// Reader of a file of memray that arrives in chunks of any size.
#[derive(Debug)]
pub struct MemrayReader(Form);

#[derive(Debug)]
enum Form {
    Capture(Box<CaptureReader>),
    Stats(StatsReader),
    Table(Box<TableReader>),
}

/// Returns true if the beginning of a file is one of memray.
pub fn is_memray(head: &[u8]) -> bool {
    is_capture(head) || is_stats(head) || is_table(head)
}

impl MemrayReader {
    /// Creates a reader for a file with this beginning.
    pub fn new(head: &[u8]) -> Self {
        Self(match () {
            () if is_stats(head) => Form::Stats(StatsReader::default()),
            () if is_table(head) => Form::Table(Box::default()),
            () => Form::Capture(Box::new(CaptureReader::new(head))),
        })
    }

    /// Reads the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            Form::Capture(reader) => reader.push(bytes),
            Form::Stats(reader) => reader.push(bytes),
            Form::Table(reader) => reader.push(bytes),
        }
    }

    /// Returns what the file says about memory.
    pub fn finish(self) -> Memray {
        match self.0 {
            Form::Capture(reader) => Memray::Capture(reader.finish()),
            Form::Stats(reader) => Memray::Stats(reader.finish()),
            Form::Table(reader) => Memray::Table(reader.finish()),
        }
    }
}
