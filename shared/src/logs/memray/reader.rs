//! Tells apart the files of memray.

use super::capture::{Capture, CaptureReader, is_capture};
use super::stats::{Stats, StatsReader, is_stats};
use super::table::{Table, TableReader, is_table};
use crate::base::Sink;
use crate::logs::source::FileReader;

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

impl Default for MemrayReader {
    fn default() -> Self {
        Self(Form::Stats(StatsReader::default()))
    }
}

impl Sink for MemrayReader {
    fn push(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            Form::Capture(reader) => reader.push(bytes),
            Form::Stats(reader) => reader.push(bytes),
            Form::Table(reader) => reader.push(bytes),
        }
    }
}

impl FileReader for MemrayReader {
    type Log = Memray;

    fn begin(head: &[u8]) -> Option<Self> {
        let form = match () {
            () if is_stats(head) => Form::Stats(StatsReader::default()),
            () if is_table(head) => Form::Table(Box::default()),
            () if is_capture(head) => Form::Capture(Box::new(CaptureReader::new(head))),
            () => return None,
        };
        Some(Self(form))
    }

    fn finish(self) -> Memray {
        match self.0 {
            Form::Capture(reader) => Memray::Capture(reader.finish()),
            Form::Stats(reader) => Memray::Stats(reader.finish()),
            Form::Table(reader) => Memray::Table(reader.finish()),
        }
    }
}
