//! Splits the long lists of a pickle into batches, as CPython writes them.
//!
//! torch's C++ pickler puts all items of a list into one `APPENDS`. PyTorch's page hands them to one call of JavaScript,
//! which browsers refuse from about 120,000 arguments on ("Maximum call stack size exceeded").
//!
//! Idea: in one pass, count the values above each mark. Before the 1001st dictionary of a list, `APPENDS` and `MARK`
//! are inserted; no value changes, and no number of the memo. A list with other items than dictionaries stays as it is.
//!
//! ```text
//! ] ( {…} {…} {…} e        →  ] ( {…} {…} e ( {…} e        with batches of 2
//! ```

use super::opcode::*;
use super::writer::BATCH_ITEMS;

/// Values above a mark.
#[derive(Debug, Default)]
struct Level {
    values: usize,
    /// True if the mark is that of a list, and all values above it are dictionaries.
    is_of_dicts: bool,
}

/// Passes a pickle on in pieces, with its long lists in batches.
///
/// From the first opcode on that torch's pickler does not write, the rest is passed on as it is.
pub fn rebatch(pickle: &[u8], mut sink: impl FnMut(&[u8])) {
    let (mut passed, mut at) = (0, 0);
    let mut levels = vec![Level::default()];
    let mut is_new_list = false;
    while let Some((opcode, next)) = operation(pickle, at) {
        let level = levels.last_mut().expect("the level of the whole pickle");
        if opcode == EMPTY_DICT && level.is_of_dicts && level.values == BATCH_ITEMS {
            sink(&pickle[passed..at]);
            sink(&[APPENDS, MARK]);
            (passed, level.values) = (at, 0);
        }
        if execute(opcode, &mut levels, is_new_list).is_none() {
            break;
        }
        is_new_list = match opcode {
            EMPTY_LIST => true,
            BINPUT | LONG_BINPUT => is_new_list,
            _ => false,
        };
        at = next;
    }
    sink(&pickle[passed..]);
}

/// Follows an opcode; `None` if it is not one of torch's, or if values are missing.
fn execute(opcode: u8, levels: &mut Vec<Level>, is_new_list: bool) -> Option<()> {
    let popped = match opcode {
        MARK => {
            levels.push(Level { values: 0, is_of_dicts: is_new_list });
            return Some(());
        }
        PROTO | BINPUT | LONG_BINPUT | STOP => return Some(()),
        APPENDS | SETITEMS | TUPLE => {
            levels.pop();
            // A tuple takes the place of the mark; the others fill a container that is there already.
            if opcode != TUPLE {
                return levels.last().map(drop);
            }
            0
        }
        APPEND | TUPLE2 => 2,
        SETITEM | TUPLE3 => 3,
        TUPLE1 => 1,
        _ => 0,
    };
    let level = levels.last_mut()?;
    level.values = level.values.checked_sub(popped)? + 1;
    level.is_of_dicts &= opcode == EMPTY_DICT;
    Some(())
}

/// Returns the opcode at a position and the position after its argument; `None` at the end or for others than torch's.
fn operation(pickle: &[u8], at: usize) -> Option<(u8, usize)> {
    let opcode = *pickle.get(at)?;
    let number = |bytes: usize| {
        let digits = pickle.get(at + 1..at + 1 + bytes)?;
        Some(digits.iter().rev().fold(0_usize, |sum, &digit| sum << 8 | usize::from(digit)))
    };
    let argument = match opcode {
        MARK | STOP | NONE | NEWTRUE | NEWFALSE | EMPTY_DICT | EMPTY_LIST | EMPTY_TUPLE => 0,
        APPEND | APPENDS | SETITEM | SETITEMS | TUPLE | TUPLE1 | TUPLE2 | TUPLE3 => 0,
        PROTO | BINPUT | BINGET | BININT1 => 1,
        BININT2 => 2,
        BININT | LONG_BINPUT | LONG_BINGET => 4,
        BINFLOAT => 8,
        LONG1 | SHORT_BINSTRING => 1 + number(1)?,
        BINUNICODE | BINSTRING => 4 + number(4)?,
        _ => return None,
    };
    let next = at.checked_add(1)?.checked_add(argument)?;
    (next <= pickle.len()).then_some((opcode, next))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pickle::{Style, Writer, value_from_slice};

    /// Returns the number of items of each `APPENDS` with any.
    fn batches(pickle: &[u8]) -> Vec<usize> {
        let (mut at, mut levels, mut is_new_list, mut found) = (0, vec![Level::default()], false, Vec::new());
        while let Some((opcode, next)) = operation(pickle, at) {
            if opcode == APPENDS {
                found.push(levels.last().map_or(0, |level: &Level| level.values));
            }
            execute(opcode, &mut levels, is_new_list).unwrap();
            is_new_list = opcode == EMPTY_LIST;
            at = next;
        }
        assert_eq!(at, pickle.len(), "every opcode is followed");
        found
    }

    /// Returns a pickle of torch's pickler: a dictionary with a list of `count` dictionaries, each with a short list.
    fn written(count: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(Style::Torch, |piece: &[u8]| bytes.extend_from_slice(piece));
        writer.begin_dict(1);
        writer.key("events");
        writer.begin_list(count);
        for number in 0..count {
            writer.begin_dict(2);
            writer.key("size");
            writer.int(number as i64);
            writer.key("frames");
            writer.begin_list(2);
            writer.text("a");
            writer.text("b");
            writer.end();
            writer.end();
        }
        writer.end();
        writer.end();
        writer.finish();
        bytes
    }

    #[track_caller]
    fn check(count: usize, expected: &[usize]) {
        let before = written(count);
        let mut after = Vec::new();
        rebatch(&before, |piece| after.extend_from_slice(piece));
        let long: Vec<usize> = batches(&after).into_iter().filter(|&items| items > 2).collect();
        assert_eq!(long, expected);
        assert_eq!(value_from_slice(&after).unwrap(), value_from_slice(&before).unwrap());
        if count <= BATCH_ITEMS {
            assert_eq!(after, before, "nothing to split");
        }
    }

    #[test]
    fn long_lists_have_batches_and_the_same_values() {
        check(10, &[10]);
        check(1000, &[1000]);
        check(1001, &[1000]);
        check(2500, &[1000, 1000, 500]);
    }

    #[test]
    fn what_is_not_understood_stays_as_it_is() {
        let whole = written(1500);
        for end in [0, 1, 100, whole.len() / 2, whole.len() - 1] {
            let cut = &whole[..end];
            let mut after = Vec::new();
            rebatch(cut, |piece| after.extend_from_slice(piece));
            assert!(after.len() <= cut.len() + 2, "at most one batch more");
            assert!(after.starts_with(&cut[..cut.len().min(500)]));
        }
        let other = b"\x80\x04\x95garbage";
        let mut after = Vec::new();
        rebatch(other, |piece| after.extend_from_slice(piece));
        assert_eq!(after, other);
    }
}
