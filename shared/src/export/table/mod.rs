//! Tables of a snapshot as CSV and as JSON, row by row.
//!
//! CSV is RFC 4180: a header line, commas, CRLF, and quotes around texts that need them.
//! The names of the columns are the field names of the JSON form, and sizes are plain numbers of bytes.

mod cell;
mod explained;
mod history;
mod live;
mod state;

use super::pieces::{Pieces, quoted};
use super::subject::Subject;
use cell::Cell;

/// A table of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// What is alive at a moment, by the stack that allocated it.
    Stacks,
    /// What is alive at a moment, by what it is for.
    Categories,
    /// Every lifetime.
    Allocations,
    /// Every event.
    Events,
    /// The segments at the end.
    Segments,
    /// The training steps.
    Steps,
    /// The findings.
    Findings,
    /// Every stack, frame by frame.
    Frames,
}

/// Hears of the rows of a table, one after another.
type Rows<'r> = dyn FnMut(&[Cell<'_>]) + 'r;

impl Table {
    /// All of them.
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

    /// The name on the command line and in JSON.
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

    /// The names of the columns, which are the fields of the JSON form.
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
///
/// A text that a spreadsheet would take for a formula gets an apostrophe in front: frames and annotations are written
/// by whoever made the snapshot, and `=HYPERLINK(…)` must not run for whoever opens the table.
pub fn csv<S: FnMut(&[u8])>(subject: &Subject<'_>, table: Table, sink: S) {
    let mut out = Pieces::new(sink);
    out.put(format_args!("{}\r\n", table.columns().join(",")));
    table.rows(subject, &mut |cells: &[Cell<'_>]| {
        for (column, cell) in cells.iter().enumerate() {
            let comma = if column > 0 { "," } else { "" };
            out.put(format_args!("{comma}{}", cell.csv(subject)));
        }
        out.put(format_args!("\r\n"));
    });
    out.finish();
}

/// Writes a table as one JSON document, `{"file", "table", "rows": [{…}]}`, piece after piece into `sink`.
pub fn json<S: FnMut(&[u8])>(subject: &Subject<'_>, table: Table, sink: S) {
    let mut out = Pieces::new(sink);
    out.put(format_args!("{{\"file\":{},\"table\":\"{}\",\"rows\":[", quoted(subject.file), table.name()));
    let mut before = "\n";
    table.rows(subject, &mut |cells: &[Cell<'_>]| {
        for (index, (name, cell)) in table.columns().iter().zip(cells).enumerate() {
            let start = if index == 0 { format!("{before}{{") } else { ",".to_owned() };
            out.put(format_args!("{start}\"{name}\":{}", cell.json(subject)));
        }
        out.put(format_args!("}}"));
        before = ",\n";
    });
    out.put(format_args!("\n]}}\n"));
    out.finish();
}

#[cfg(test)]
mod tests;
