//! Finds the line of an instruction in the tables that Python keeps with its functions.
//!
//! From format 12 on, a frame has `f_lasti` of its Python: bytes, or instructions of two bytes in Python 3.10.

use super::header::Python;

/// Change of the line before instructions without one, in the tables of Python 3.10.
const NO_LINE: i8 = -128;

/// Lines of a function.
#[derive(Debug)]
pub(super) struct LineTable {
    python: Python,
    /// Ends of ranges of instructions, ascending, and the line of each; the unit depends on the version.
    ranges: Vec<(u64, i64)>,
}

impl LineTable {
    /// Reads the table of a function that begins in a line; damaged ones end early.
    pub(super) fn new(python: Python, table: &[u8], first_line: i64) -> Self {
        let mut ranges = Vec::new();
        match (python.major, python.minor) {
            (3, 11..) => drop(add_locations(table, first_line, &mut ranges)),
            (3, 10) => add_pairs(table, first_line, &mut ranges),
            _ => add_old_pairs(table, first_line, &mut ranges),
        }
        Self { python, ranges }
    }

    /// Returns the line of the instruction at an offset; `None` if the table does not have it.
    pub(super) fn line(&self, offset: i64) -> Option<i64> {
        let offset = u64::try_from(offset).ok()?;
        let unit = match (self.python.major, self.python.minor) {
            (3, 11..) => offset / 2,
            (3, 10) => offset.saturating_mul(2),
            _ => offset,
        };
        let range = self.ranges.partition_point(|(end, _)| *end <= unit);
        self.ranges.get(range).map(|(_, line)| *line)
    }
}

/// Reads the table of Python 3.11 and later (`Objects/locations.md` of CPython), in units of two bytes.
fn add_locations(table: &[u8], first_line: i64, ranges: &mut Vec<(u64, i64)>) -> Option<()> {
    let mut bytes = table.iter().copied();
    let (mut line, mut end) = (first_line, 0);
    while let Some(first) = bytes.next() {
        end += u64::from(first & 7) + 1;
        match first >> 3 & 15 {
            15 => {}
            14 => {
                line += signed(&mut bytes)?;
                (0..3).try_for_each(|_| varint(&mut bytes).map(drop))?;
            }
            13 => line += signed(&mut bytes)?,
            code @ 10..=12 => {
                line += i64::from(code) - 10;
                bytes.nth(1)?;
            }
            _ => drop(bytes.next()?),
        }
        ranges.push((end, line));
    }
    Some(())
}

/// Reads a number with six bits in each byte, the lowest first.
fn varint(bytes: &mut impl Iterator<Item = u8>) -> Option<i64> {
    let mut value = 0;
    for shift in (0..36).step_by(6) {
        let byte = bytes.next()?;
        value |= i64::from(byte & 63) << shift;
        if byte & 64 == 0 {
            return Some(value);
        }
    }
    None
}

fn signed(bytes: &mut impl Iterator<Item = u8>) -> Option<i64> {
    let value = varint(bytes)?;
    Some(if value & 1 == 1 { -(value >> 1) } else { value >> 1 })
}

/// Reads the table of Python 3.10: pairs of a number of bytes and the change of the line before them.
fn add_pairs(table: &[u8], first_line: i64, ranges: &mut Vec<(u64, i64)>) {
    let (mut line, mut end) = (first_line, 0);
    for pair in table.chunks_exact(2) {
        let change = pair[1] as i8;
        line += if change == NO_LINE { 0 } else { i64::from(change) };
        end += u64::from(pair[0]);
        ranges.push((end, line));
    }
    ranges.push((u64::MAX, line));
}

/// Reads the table of Python up to 3.9: pairs of a number of bytes and the change of the line behind them.
fn add_old_pairs(table: &[u8], first_line: i64, ranges: &mut Vec<(u64, i64)>) {
    let (mut line, mut end) = (first_line, 0);
    for pair in table.chunks_exact(2) {
        end += u64::from(pair[0]);
        ranges.push((end, line));
        line += i64::from(pair[1] as i8);
    }
    ranges.push((u64::MAX, line));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of `def f(x):`, `y = [x]`, an empty line, `return (` and `y + y)`, which begins in line 5, with its lines by
    /// `dis.findlinestarts` of each version.
    #[test]
    fn lines_are_those_of_python() {
        const OLD: &[u8] = b"\x00\x01\x06\x03\x06\xff";
        const PAIRS: &[u8] = b"\x06\x01\x06\x03\x02\xff";
        const LOCATIONS: &[u8] = b"\x80\x00\xd8\t\n\x88\x03\x80A\xf0\x06\x00\t\n\x88A\x89\x05\xf0\x03\x01\x05\x0f";
        let lines = |minor: u8, table: &[u8], offsets: [i64; 5]| {
            let lines = LineTable::new(Python { major: 3, minor }, table, 5);
            offsets.map(|offset| lines.line(offset))
        };
        assert_eq!(lines(9, OLD, [0, 4, 6, 10, 12]), [6, 6, 9, 9, 8].map(Some));
        assert_eq!(lines(10, PAIRS, [0, 2, 3, 5, 6]), [6, 6, 9, 9, 8].map(Some));
        assert_eq!(lines(12, LOCATIONS, [0, 2, 8, 14, 16]), [5, 6, 9, 9, 8].map(Some));
        assert_eq!(lines(12, LOCATIONS, [18, -1, 99, 4, 6]), [None, None, None, Some(6), Some(6)]);
    }
}
