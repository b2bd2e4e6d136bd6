//! Writes a table with any columns.
//! Formats that a table can be written in.

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
    /// Writes the rows that `fill` produces, piece after piece into `sink`.
    pub fn write<S: FnMut(&[u8])>(
        &self,
        format: TableFormat,
        subject: &Subject<'_>,
        fill: impl FnOnce(&mut Rows<'_>),
        sink: S,
    ) {
        let mut out = Pieces::new(sink);
        match format {
            TableFormat::Csv => self.csv(subject, fill, &mut out),
            TableFormat::Json => self.json(subject, fill, &mut out),
            TableFormat::Markdown => self.markdown(subject, fill, &mut out),
        }
        out.finish();
    }

    /// A text that a spreadsheet would take for a formula gets an apostrophe in front: whoever made the snapshot wrote
    /// its frames and annotations, and `=HYPERLINK(…)` must not run in the spreadsheet of others.
    fn csv<S: FnMut(&[u8])>(&self, subject: &Subject<'_>, fill: impl FnOnce(&mut Rows<'_>), out: &mut Pieces<S>) {
        out.put(format_args!("{}\r\n", self.columns.join(",")));
        fill(&mut |cells: &[Cell<'_>]| {
            for (column, cell) in cells.iter().enumerate() {
                let comma = if column > 0 { "," } else { "" };
                out.put(format_args!("{comma}{}", cell.csv(subject)));
            }
            out.put(format_args!("\r\n"));
        });
    }

    /// Numbers are aligned to the right, which the first row decides: a rule stands before the rows.
    fn markdown<S: FnMut(&[u8])>(&self, subject: &Subject<'_>, fill: impl FnOnce(&mut Rows<'_>), out: &mut Pieces<S>) {
        let rule = |is_number: bool| if is_number { "--:" } else { "---" };
        let head = |out: &mut Pieces<S>, rules: Vec<&str>| {
            out.put(format_args!("| {} |\n| {} |\n", self.columns.join(" | "), rules.join(" | ")));
        };
        let mut has_head = false;
        fill(&mut |cells: &[Cell<'_>]| {
            if !has_head {
                head(out, cells.iter().map(|cell| rule(matches!(cell, Cell::Number(_)))).collect());
                has_head = true;
            }
            for cell in cells {
                out.put(format_args!("| {} ", cell.markdown(subject)));
            }
            out.put(format_args!("|\n"));
        });
        if !has_head {
            head(out, vec![rule(false); self.columns.len()]);
        }
    }

    fn json<S: FnMut(&[u8])>(&self, subject: &Subject<'_>, fill: impl FnOnce(&mut Rows<'_>), out: &mut Pieces<S>) {
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
    }
}

/// Format of a table's file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TableFormat {
    /// RFC 4180: a header line, commas, CRLF, and quotes around texts that need them.
    #[default]
    Csv,
    /// One document, `{"file", "table", "rows": [{…}]}`.
    Json,
    /// A table of GitHub's Markdown, for issues and reports.
    Markdown,
}

crate::names!(TableFormat {
    Csv => "csv",
    Json => "json",
    Markdown => "markdown",
});

impl TableFormat {
    /// Returns the ending of file names, without the dot.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Markdown => "md",
        }
    }

    /// Returns the name on buttons.
    pub fn label(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Json => "JSON",
            Self::Markdown => "Markdown",
        }
    }

    /// Returns the media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv;charset=utf-8",
            Self::Json => "application/json",
            Self::Markdown => "text/markdown;charset=utf-8",
        }
    }
}
