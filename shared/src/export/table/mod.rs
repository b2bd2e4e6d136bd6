//! Writes tables of a snapshot row by row, in several formats.
//!
//! The names of the columns are the field names of the JSON form, and sizes are plain numbers of bytes.

mod cell;
mod explained;
mod format;
mod history;
mod live;
mod sheet;
mod state;

pub use cell::{Cell, csv_text, markdown_text};
pub use format::TableFormat;
pub use sheet::{Rows, Sheet};

use super::subject::Subject;

/// Table of a snapshot.
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
            Self::Stacks => live::STACKS,
            Self::Categories => live::CATEGORIES,
            Self::Allocations => history::ALLOCATIONS,
            Self::Events => history::EVENTS,
            Self::Segments => state::SEGMENTS,
            Self::Steps => explained::STEPS,
            Self::Findings => explained::FINDINGS,
            Self::Frames => state::FRAMES,
        }
    }

    fn sheet(self) -> Sheet<'static> {
        Sheet { name: self.name(), columns: self.columns() }
    }

    fn rows(self, subject: &Subject<'_>, row: &mut Rows<'_>) {
        match self {
            Self::Stacks => live::stacks(subject, row),
            Self::Categories => live::categories(subject, row),
            Self::Allocations => history::allocations(subject, row),
            Self::Events => history::events(subject, row),
            Self::Segments => state::segments(subject, row),
            Self::Steps => explained::steps(subject, row),
            Self::Findings => explained::findings(subject, row),
            Self::Frames => state::frames(subject, row),
        }
    }
}

/// Writes a table in a format, piece after piece into `sink`.
pub fn table<S: FnMut(&[u8])>(subject: &Subject<'_>, table: Table, format: TableFormat, sink: S) {
    table.sheet().write(format, subject, |row| table.rows(subject, row), sink);
}

#[cfg(test)]
mod tests;
