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
    /// Training steps.
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
    pub fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Stacks => rows::STACKS,
            Self::Categories => rows::CATEGORIES,
            Self::Allocations => rows::ALLOCATIONS,
            Self::Events => rows::EVENTS,
            Self::Segments => rows::SEGMENTS,
            Self::Steps => rows::STEPS,
            Self::Findings => rows::FINDINGS,
            Self::Frames => rows::FRAMES,
        }
    }

    fn sheet(self) -> Sheet<'static> {
        Sheet { name: self.name(), columns: self.columns() }
    }

    fn rows(self, subject: &Subject<'_>, row: &mut Rows<'_>) {
        match self {
            Self::Stacks => rows::stacks(subject, row),
            Self::Categories => rows::categories(subject, row),
            Self::Allocations => rows::allocations(subject, row),
            Self::Events => rows::events(subject, row),
            Self::Segments => rows::segments(subject, row),
            Self::Steps => rows::steps(subject, row),
            Self::Findings => rows::findings(subject, row),
            Self::Frames => rows::frames(subject, row),
        }
    }
}

/// Writes a table in a format, piece after piece into `sink`.
pub fn table<S: FnMut(&[u8])>(subject: &Subject<'_>, table: Table, format: TableFormat, sink: S) {
    table.sheet().write(format, subject, |row| table.rows(subject, row), sink);
}

#[cfg(test)]
mod tests;
