//! Takes cells off a line from both ends, so that a command in the middle can have separators in it.

/// Cells of a line that have not been taken.
pub(super) struct Cells<'a> {
    /// `None` after the last cell.
    rest: Option<&'a str>,
    /// Character between cells; `None` for any number of spaces.
    separator: Option<char>,
}

impl<'a> Cells<'a> {
    pub(super) fn new(line: &'a str, separator: Option<char>) -> Self {
        Self { rest: Some(line), separator }
    }

    /// Returns the text of all cells that are left; `None` after the last one.
    pub(super) fn rest(&self) -> Option<&'a str> {
        self.rest
    }

    /// Takes the first cell.
    pub(super) fn first(&mut self) -> Option<&'a str> {
        let rest = self.rest?;
        let Some(separator) = self.separator else {
            let rest = rest.trim_ascii_start();
            let end = rest.bytes().position(|byte| byte.is_ascii_whitespace()).unwrap_or(rest.len());
            let (cell, after) = rest.split_at(end);
            self.rest = Some(after);
            return (!cell.is_empty()).then_some(cell);
        };
        let (cell, after) = match rest.bytes().position(|byte| char::from(byte) == separator) {
            Some(end) => (&rest[..end], Some(&rest[end + 1..])),
            None => (rest, None),
        };
        self.rest = after;
        Some(unquoted(cell))
    }

    /// Takes the last cell.
    pub(super) fn last(&mut self) -> Option<&'a str> {
        let rest = self.rest?;
        let Some(separator) = self.separator else {
            let rest = rest.trim_ascii_end();
            let start = rest.bytes().rposition(|byte| byte.is_ascii_whitespace()).map_or(0, |at| at + 1);
            let (before, cell) = rest.split_at(start);
            self.rest = Some(before);
            return (!cell.is_empty()).then_some(cell);
        };
        let (before, cell) = rest.rsplit_once(separator).map_or((None, rest), |(before, cell)| (Some(before), cell));
        self.rest = before;
        Some(unquoted(cell))
    }
}

/// Returns a cell without spaces and quotation marks around it.
pub(super) fn unquoted(cell: &str) -> &str {
    cell.trim_ascii().trim_matches('"')
}
