//! Reads rows about processes that have no head, by their form.
//!
//! Cells are taken off both ends of a line, so that a command in the middle can have separators in it.

use super::log::{HostForm, Parts};
use shared::base::size;

/// What a row says about one process.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Row<'a> {
    /// Time of the row as it is written; empty if it has none.
    pub(super) time: &'a str,
    pub(super) pid: u32,
    pub(super) parent: Option<u32>,
    pub(super) user: &'a str,
    pub(super) command: &'a str,
    pub(super) rss_bytes: Option<u64>,
    pub(super) pss_bytes: Option<u64>,
    pub(super) parts: Parts,
    /// Processor time in seconds, which never decreases in one process.
    pub(super) cpu_s: Option<u64>,
    /// Share of the machine's memory in tenths of a percent, rounded by the tool.
    pub(super) memory_permille: Option<u32>,
}

/// What a text begins with: a row of a form.
pub(super) type Found<'a> = Option<(HostForm, Row<'a>)>;

impl<'a> Row<'a> {
    /// Splits the rows behind this one off its command; they are empty if there are none.
    ///
    /// Cost: linear in the words of the command.
    pub(super) fn split(self, of: impl Fn(&'a str) -> Found<'a>) -> (Self, &'a str) {
        let text = self.command;
        let words = text.split_ascii_whitespace().skip(1).map(|word| word.as_ptr() as usize - text.as_ptr() as usize);
        match words.into_iter().find(|&start| of(&text[start..]).is_some()) {
            Some(start) => (Self { command: text[..start].trim_ascii_end(), ..self }, &text[start..]),
            None => (self, ""),
        }
    }
}

/// Letters that state what a process does.
const STATES: [char; 9] = ['D', 'I', 'R', 'S', 'T', 't', 'W', 'X', 'Z'];

/// Reads a row that has no head above it, as when `grep` removed it: one of `ps aux` or of `top`.
pub(super) fn headless(line: &str) -> Found<'_> {
    aux(line).map(|row| (HostForm::Ps, row)).or_else(|| top(line).map(|row| (HostForm::Top, row)))
}

/// Reads a row behind what else a loop prints: a time in an unknown form, or the name of a container.
pub(super) fn behind(line: &str) -> Found<'_> {
    const MOST_WORDS: usize = 8;
    let mut words = line.split_ascii_whitespace().skip(1).take(MOST_WORDS);
    words.find_map(|word| headless(&line[word.as_ptr() as usize - line.as_ptr() as usize..]))
}

/// Returns true for a row about a process that needs no head.
pub(crate) fn is_row(line: &str) -> bool {
    headless(line).or_else(|| behind(line)).is_some()
}

/// `user pid %cpu %mem vsz rss tty stat start time command`
fn aux(line: &str) -> Option<Row<'_>> {
    let mut cells = Cells::new(line, None);
    let (user, pid) = (cells.first()?, cells.first()?.parse().ok()?);
    permille(cells.first()?)?;
    let memory_permille = permille(cells.first()?);
    cells.first()?.parse::<u64>().ok()?;
    let rss_bytes = cells.first()?.parse::<u64>().ok()?.checked_mul(1 << 10);
    cells.first()?;
    if !cells.first()?.starts_with(STATES) {
        return None;
    }
    cells.first()?;
    let cpu_s = cpu_seconds(cells.first()?);
    let command = cells.rest().map(str::trim).filter(|command| !command.is_empty())?;
    let is_row = memory_permille.is_some() && rss_bytes.is_some() && cpu_s.is_some();
    is_row.then(|| Row { pid, user, command, rss_bytes, cpu_s, memory_permille, ..Row::default() })
}

/// `pid user pr ni virt res shr s %cpu %mem time+ command`
fn top(line: &str) -> Option<Row<'_>> {
    let mut cells = Cells::new(line, None);
    let (pid, user) = (cells.first()?.parse().ok()?, cells.first()?);
    cells.first()?;
    cells.first()?.parse::<i32>().ok()?;
    size::cell(cells.first()?, 1 << 10)?;
    let rss_bytes = size::cell(cells.first()?, 1 << 10);
    size::cell(cells.first()?, 1 << 10)?;
    let state = cells.first()?;
    permille(cells.first()?)?;
    let (memory_permille, cpu_s) = (permille(cells.first()?), cpu_seconds(cells.first()?));
    let command = cells.rest().map(str::trim).filter(|command| !command.is_empty())?;
    let is_row = rss_bytes.is_some() && memory_permille.is_some() && cpu_s.is_some();
    let is_state = state.len() == 1 && state.starts_with(STATES);
    (is_row && is_state).then(|| Row { pid, user, command, rss_bytes, cpu_s, memory_permille, ..Row::default() })
}

/// Reads a percentage with at most one decimal, as tenths of a percent.
pub(super) fn permille(cell: &str) -> Option<u32> {
    // Nearly all are `12.3`; floating point numbers of any form take ten times as long.
    if let [whole @ .., b'.', tenth] = cell.as_bytes()
        && (1..=4).contains(&whole.len())
        && whole.iter().chain([tenth]).all(u8::is_ascii_digit)
    {
        return Some(whole.iter().chain([tenth]).fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')));
    }
    let value: f64 = match cell.contains(',') {
        true => cell.replace(',', ".").parse().ok()?,
        false => cell.parse().ok()?,
    };
    (0.0..1e6).contains(&value).then(|| (value * 10.0).round() as u32)
}

/// Reads processor time: `12:34`, `12:34.56`, `1:02:03` or `2-01:02:03`, in seconds.
pub(super) fn cpu_seconds(cell: &str) -> Option<u64> {
    let (days, rest) = match cell.bytes().position(|byte| byte == b'-') {
        Some(end) => (number(&cell.as_bytes()[..end])?, &cell.as_bytes()[end + 1..]),
        None => (0, cell.as_bytes()),
    };
    let mut seconds: u64 = 0;
    let mut parts = 0;
    for part in rest.split(|byte| *byte == b':') {
        let whole = part.split(|byte| matches!(byte, b'.' | b',')).next()?;
        seconds = seconds.checked_mul(60)?.checked_add(number(whole)?)?;
        parts += 1;
    }
    let of_days = u64::checked_mul(days, 86_400)?;
    (2..=3).contains(&parts).then(|| seconds.checked_add(of_days)).flatten()
}

fn number(digits: &[u8]) -> Option<u64> {
    let add = |sum: u64, digit: &u8| {
        let digit = digit.is_ascii_digit().then_some(u64::from(digit & 15))?;
        sum.checked_mul(10)?.checked_add(digit)
    };
    digits.iter().try_fold(0, add).filter(|_| !digits.is_empty())
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_and_processor_times_are_read() {
        let all = ["0.0", "12.3", "99,5", "100", "1600", "101.25", "9999.9", "", ".5", "1.2.3", "-1.0", "1e2.0"];
        let read = [0, 123, 995, 1000, 16_000, 1013, 99_999].map(Some);
        assert_eq!(all.map(permille)[..7], read);
        assert_eq!(all.map(permille)[7..], [None, Some(5), None, None, None]);
        let all = ["12:34", "12:34.56", "1:02:03", "2-01:02:03", "00:00:00"];
        assert_eq!(all.map(cpu_seconds), [754, 754, 3723, 176_523, 0].map(Some));
        for text in ["", "12", "1:2:3:4", ":", "-1:00", "1-", "a:b", "99999999999999999999:00"] {
            assert_eq!(cpu_seconds(text), None, "{text}");
        }
    }
}
