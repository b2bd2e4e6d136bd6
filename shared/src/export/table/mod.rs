//! Writes tables of a snapshot row by row, in several formats.
//!
//! The names of the columns are the field names of the JSON form, and sizes are plain numbers of bytes.

mod rows;
mod sheet;

pub use sheet::{Cell, Rows, Sheet, TableFormat, csv_text, markdown_text};

use super::subject::Subject;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// Live bytes at a moment, by the stack that allocated them.
    Stacks,
    /// Live bytes at a moment, by category.
    Categories,
    /// Every allocation with its lifetime.
    Allocations,
    Events,
    /// Segments at the end.
    Segments,
    Steps,
    Findings,
    /// Every stack, frame by frame.
    Frames,
}

crate::names!(Table {
    Stacks => "stacks",
    Categories => "categories",
    Allocations => "allocations",
    Events => "events",
    Segments => "segments",
    Steps => "steps",
    Findings => "findings",
    Frames => "frames",
});

impl Table {
    /// Returns the names of the columns, which are the fields of the JSON form.
    pub fn columns(self) -> Vec<&'static str> {
        self.content().0.split(' ').collect()
    }

    /// Returns the names of the columns, with spaces between them, and what writes the rows.
    fn content(self) -> (&'static str, fn(&Subject<'_>, &mut Rows<'_>)) {
        match self {
            Self::Stacks => (rows::STACKS, rows::stacks),
            Self::Categories => (rows::CATEGORIES, rows::categories),
            Self::Allocations => (rows::ALLOCATIONS, rows::allocations),
            Self::Events => (rows::EVENTS, rows::events),
            Self::Segments => (rows::SEGMENTS, rows::segments),
            Self::Steps => (rows::STEPS, rows::steps),
            Self::Findings => (rows::FINDINGS, rows::findings),
            Self::Frames => (rows::FRAMES, rows::frames),
        }
    }
}

/// Writes a table in a format, piece after piece into `sink`.
pub fn table<S: FnMut(&[u8])>(subject: &Subject<'_>, table: Table, format: TableFormat, sink: S) {
    let (_, rows) = table.content();
    let sheet = Sheet { name: table.name(), columns: &table.columns() };
    sheet.write(format, subject, |row| rows(subject, row), sink);
}

#[cfg(test)]
mod tests;
