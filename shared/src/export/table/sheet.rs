//! Writes a table with any columns, value by value, in any of the formats that it defines.

use crate::analysis::place;
use crate::base::format;
use crate::export::subject::{Pieces, Subject, quoted};
use crate::trace::StackId;
use std::borrow::Cow;

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
        if self == Self::Markdown { "md" } else { self.name() }
    }

    /// Returns the name on buttons.
    pub fn label(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Json => "JSON",
            Self::Markdown => "Markdown",
        }
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv;charset=utf-8",
            Self::Json => "application/json",
            Self::Markdown => "text/markdown;charset=utf-8",
        }
    }
}

#[derive(Clone, Debug)]
pub enum Cell<'a> {
    /// Unknown or missing value.
    Nothing,
    Number(i128),
    Flag(bool),
    /// Device address, written as text as PyTorch prints it, because a JSON number would lose digits.
    Address(u64),
    Text(Cow<'a, str>),
    Numbers(Vec<u32>),
    /// Frames of a stack, innermost first.
    Frames(StackId),
}

impl<'a> Cell<'a> {
    pub fn number(number: impl Into<i128>) -> Self {
        Self::Number(number.into())
    }

    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a text cell, or an empty one if the text is empty.
    pub fn some_text(text: &'a str) -> Self {
        if text.is_empty() { Self::Nothing } else { Self::text(text) }
    }

    /// Creates a cell with the number of a stack, which is the same in every table of a file.
    ///
    /// The cell is empty if no frames were recorded.
    pub fn stack(stack: StackId) -> Self {
        if stack.has_frames() { Self::Number(stack.index() as i128) } else { Self::Nothing }
    }

    pub(super) fn csv(&self, subject: &Subject<'_>) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Address(addr) => format::address(*addr),
            Self::Text(text) => csv_text(text),
            Self::Numbers(numbers) => numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" "),
            Self::Frames(stack) => csv_text(&places(subject, *stack)),
        }
    }

    pub(super) fn markdown(&self, subject: &Subject<'_>) -> String {
        match self {
            Self::Text(text) => markdown_text(text),
            Self::Frames(stack) => markdown_text(&places(subject, *stack)),
            // Numbers and addresses need no escapes in any format.
            Self::Nothing | Self::Number(_) | Self::Flag(_) | Self::Address(_) | Self::Numbers(_) => self.csv(subject),
        }
    }

    pub(super) fn json(&self, subject: &Subject<'_>) -> String {
        match self {
            Self::Nothing => "null".to_owned(),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Address(addr) => format!("\"{}\"", format::address(*addr)),
            Self::Text(text) => quoted(text),
            Self::Numbers(numbers) => {
                format!("[{}]", numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(","))
            }
            Self::Frames(stack) => {
                let frame = |(name, filename, line): (&str, &str, u64)| {
                    format!("{{\"name\":{},\"filename\":{},\"line\":{line}}}", quoted(name), quoted(filename))
                };
                format!("[{}]", subject.frames(*stack).map(frame).collect::<Vec<_>>().join(","))
            }
        }
    }
}

impl<T: Into<i128>> From<Option<T>> for Cell<'_> {
    fn from(number: Option<T>) -> Self {
        number.map_or(Self::Nothing, Self::number)
    }
}

/// Formats the places of a stack's frames, innermost first.
fn places(subject: &Subject<'_>, stack: StackId) -> String {
    let places = subject.frames(stack).map(|(name, filename, line)| place(name, filename, line));
    places.collect::<Vec<_>>().join(" < ")
}

/// Formats a text as a CSV field that no spreadsheet takes for a formula.
pub fn csv_text(text: &str) -> String {
    // Spreadsheets take these characters for the start of a formula and skip blanks and tabs before them.
    let is_formula = text.trim_start().starts_with(['=', '+', '-', '@']) || text.starts_with(['\t', '\r']);
    let apostrophe = if is_formula { "'" } else { "" };
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{apostrophe}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{apostrophe}{text}")
    }
}

/// Escapes what would end a cell, begin markup or run as HTML in a page that shows the Markdown.
pub fn markdown_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => escaped.push(' '),
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_they_need_it() {
        assert_eq!(csv_text("relu (main.py:3)"), "relu (main.py:3)");
        assert_eq!(csv_text("f(a, b)"), "\"f(a, b)\"");
        assert_eq!(csv_text("say \"hi\"\nthere"), "\"say \"\"hi\"\"\nthere\"");
        assert_eq!(csv_text(""), "");
    }

    #[test]
    fn markdown_shows_texts_as_they_are() {
        assert_eq!(markdown_text("a|b < c\nd"), "a\\|b &lt; c d");
        assert_eq!(
            markdown_text("__init__ <b>&amp; [x](y) `z`"),
            "\\_\\_init\\_\\_ &lt;b>&amp;amp; \\[x\\](y) \\`z\\`"
        );
    }

    #[test]
    fn a_spreadsheet_finds_no_formula() {
        assert_eq!(csv_text("=1+1"), "'=1+1");
        assert_eq!(csv_text("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
        assert_eq!(csv_text(" @SUM(A1,A2)"), "\"' @SUM(A1,A2)\"");
        assert_eq!(csv_text("\t-2"), "'\t-2");
        assert_eq!(csv_text("a=b"), "a=b");
    }
}
