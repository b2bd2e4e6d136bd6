//! Reads the table that `memray transform csv` writes.
//!
//! Each row is the memory of one stack at the peak, or what the options of the command selected instead, such as
//! `--leaks`; the table does not say which.

use super::origin::{Origin, OriginSums, Origins, Place};
use super::record::Amount;
use crate::base::{Lines, StringTable};

/// First line of the table.
const HEAD: &str = "allocator,num_allocations,size,tid,thread_name,stack_trace";

/// Memory of stacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    pub stacks: u64,
    pub amount: Amount,
    /// Memory by line, as that at the peak.
    pub origins: Origins,
    /// Number of lines that are not understood.
    pub unread: u64,
}

/// Reader of the table.
#[derive(Debug, Default)]
pub(super) struct TableReader {
    lines: Lines,
    rows: Rows,
}

#[derive(Debug, Default)]
struct Rows {
    table: Table,
    texts: StringTable,
    sums: OriginSums,
}

/// Returns true if the beginning of a file is such a table.
pub(super) fn is_table(head: &[u8]) -> bool {
    head.starts_with(HEAD.as_bytes())
}

impl TableReader {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.lines.push(bytes, |line| self.rows.line(line));
    }

    pub(super) fn finish(self) -> Table {
        let mut rows = self.rows;
        self.lines.finish(|line| rows.line(line));
        Table { origins: rows.sums.finish(&rows.texts), ..rows.table }
    }
}

impl Rows {
    fn line(&mut self, line: &str) {
        if line == HEAD {
            return;
        }
        let Some((amount, stack)) = row(line) else {
            self.table.unread += 1;
            return;
        };
        self.table.stacks += 1;
        self.table.amount = self.table.amount.and(amount);
        let origin = self.origin(&stack);
        self.sums.add(origin, amount, Amount::default(), Amount::default());
    }

    /// Returns the lines that a stack leads to; its frames stand between bars, the innermost first.
    fn origin(&mut self, stack: &str) -> Origin {
        let mut origin = Origin::default();
        for frame in stack.split('|') {
            let Some(place) = place(frame, &mut self.texts) else { continue };
            origin.innermost = origin.innermost.or(Some(place));
            if place.is_own(&self.texts) {
                origin.own = Some(place);
                break;
            }
        }
        origin
    }
}

/// Returns the memory and the stack of a row.
fn row(line: &str) -> Option<(Amount, String)> {
    let mut rest = line;
    let mut next = || field(&mut rest);
    let (_allocator, count, bytes, _thread, _thread_name, stack) =
        (next()?, next()?, next()?, next()?, next()?, next()?);
    Some((Amount { bytes: bytes.parse().ok()?, count: count.parse().ok()? }, stack))
}

/// Takes the next field of a row, which is in quotes if it contains commas or quotes.
fn field(rest: &mut &str) -> Option<String> {
    if let Some(quoted) = rest.strip_prefix('"') {
        let end = quoted.replace("\"\"", "\0\0").find('"').unwrap_or(quoted.len());
        let field = quoted[..end].replace("\"\"", "\"");
        *rest = quoted[end..].strip_prefix('"').unwrap_or_default();
        *rest = rest.strip_prefix(',').unwrap_or(rest);
        return Some(field);
    }
    if rest.is_empty() {
        return Some(String::new());
    }
    let (field, after) = rest.split_once(',').unwrap_or((rest, ""));
    *rest = after;
    Some(field.to_owned())
}

/// Reads a frame such as `load;data.py;12`.
fn place(frame: &str, texts: &mut StringTable) -> Option<Place> {
    let (name, line) = frame.rsplit_once(';')?;
    let (function, file) = name.rsplit_once(';')?;
    Some(Place { function: texts.intern(function), file: texts.intern(file), line: line.parse().ok()? })
}
