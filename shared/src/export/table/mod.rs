//! Writes tables of a snapshot as CSV and as JSON, row by row.
//!
//! CSV is RFC 4180: a header line, commas, CRLF, and quotes around texts that need them.
//! The names of the columns are the field names of the JSON form, and sizes are plain numbers of bytes.

mod cell;
mod explained;
mod history;
mod live;
mod sheet;
mod state;

pub use cell::{Cell, csv_text};
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

impl Table {
    pub const ALL: [Self; 8] = [
        Self::Stacks,
        Self::Categories,
        Self::Allocations,
        Self::Events,
        Self::Segments,
        Self::Steps,
        Self::Findings,
        Self::Frames,
    ];

    /// Returns the name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stacks => "stacks",
            Self::Categories => "categories",
            Self::Allocations => "allocations",
            Self::Events => "events",
            Self::Segments => "segments",
            Self::Steps => "steps",
            Self::Findings => "findings",
            Self::Frames => "frames",
        }
    }

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

/// Writes a table as CSV, piece after piece into `sink`.
pub fn csv<S: FnMut(&[u8])>(subject: &Subject<'_>, table: Table, sink: S) {
    table.sheet().csv(subject, |row| table.rows(subject, row), sink);
}

/// Writes a table as one JSON document, `{"file", "table", "rows": [{…}]}`, piece after piece into `sink`.
pub fn json<S: FnMut(&[u8])>(subject: &Subject<'_>, table: Table, sink: S) {
    table.sheet().json(subject, |row| table.rows(subject, row), sink);
}

#[cfg(test)]
mod tests;
