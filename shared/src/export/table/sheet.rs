//! Writes a table with any columns as CSV and as JSON.

use super::Cell;
use crate::export::pieces::{Pieces, quoted};
use crate::export::subject::Subject;

/// Callback that takes the rows of a table one after another, each with a cell for every column.
pub type Rows<'r> = dyn FnMut(&[Cell<'_>]) + 'r;

/// Name and columns of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sheet<'a> {
    /// Name of the table in JSON.
    pub name: &'a str,
    /// Names of the columns, which are the fields of the JSON form.
    pub columns: &'a [&'a str],
}

impl Sheet<'_> {
    /// Writes the rows that `fill` produces as CSV, piece after piece into `sink`.
    ///
    /// A text that a spreadsheet would take for a formula gets an apostrophe in front: whoever made the snapshot wrote
    /// its frames and annotations, and `=HYPERLINK(…)` must not run in the spreadsheet of others.
    pub fn csv<S: FnMut(&[u8])>(&self, subject: &Subject<'_>, fill: impl FnOnce(&mut Rows<'_>), sink: S) {
        let mut out = Pieces::new(sink);
        out.put(format_args!("{}\r\n", self.columns.join(",")));
        fill(&mut |cells: &[Cell<'_>]| {
            for (column, cell) in cells.iter().enumerate() {
                let comma = if column > 0 { "," } else { "" };
                out.put(format_args!("{comma}{}", cell.csv(subject)));
            }
            out.put(format_args!("\r\n"));
        });
        out.finish();
    }

    /// Writes the rows that `fill` produces as one JSON document, piece after piece into `sink`.
    ///
    /// The document is `{"file", "table", "rows": [{…}]}`.
    pub fn json<S: FnMut(&[u8])>(&self, subject: &Subject<'_>, fill: impl FnOnce(&mut Rows<'_>), sink: S) {
        let mut out = Pieces::new(sink);
        out.put(format_args!("{{\"file\":{},\"table\":\"{}\",\"rows\":[", quoted(subject.file), self.name));
        let mut before = "\n";
        fill(&mut |cells: &[Cell<'_>]| {
            for (index, (name, cell)) in self.columns.iter().zip(cells).enumerate() {
                let start = if index == 0 { format!("{before}{{") } else { ",".to_owned() };
                out.put(format_args!("{start}\"{name}\":{}", cell.json(subject)));
            }
            out.put(format_args!("}}"));
            before = ",\n";
        });
        out.put(format_args!("\n]}}\n"));
        out.finish();
    }
}
