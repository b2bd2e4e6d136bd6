//! Fast path that executes the common opcodes of a snapshot a record at a time.
//!
//! A record is always written the same way: a dictionary is opened, memoized and marked; keys from the memo and short
//! values take turns; `SETITEMS` ends it.
//! The general path ([`Scanner::step`](super::scanner::Scanner)) checks for each opcode which one it is, whether its
//! data is complete and what the memo holds, and passes each value through the stack in memory.
//! The fast path checks 32 bytes once for a key or a value.
//! Entries reach the stack only where their dictionary does not end as expected.
//! Records that the builder knows are recognised as a whole by a [`template`](super::template).
//!
//! Invariant: each branch leaves the machine as the general path would.
//! Uncommon cases (the end of a chunk, an unusual opcode, any error) are left to the general path.
//! The tests read every file both ways: chunks of one byte are too short for the fast path.

use super::heap::Error;
use super::lesson::Example;
use super::opcode::*;
use super::parse::{WINDOW, head, integer, put_len, reference, references, u32_at, window};
use super::scanner::{Scanner, memo_bound};
use super::{Build, Val};

/// Maximum number of keys and values of a dictionary; the dictionaries of snapshots have at most fourteen keys.
const MOST_ENTRIES: usize = 32;

/// Start of a container.
struct Opening {
    /// True if the container is memoized under the next index.
    is_memoized: bool,
    /// Length of its opcodes in bytes, including those that memoize and mark it.
    len: usize,
}

impl<B: Build> Scanner<B> {
    /// Executes opcodes from `at` on and returns the position of the first one that is left to [`step`](Self::step).
    pub(super) fn run(&mut self, input: &[u8], mut at: usize, offset: u64) -> Result<usize, Error> {
        while let Some(window) = window(input, at) {
            let fail = |kind: Box<_>| Error { offset: offset + at as u64, kind: *kind };
            let bound = || memo_bound(offset + at as u64);
            let machine = &mut self.machine;
            at += match window[0] {
                EMPTY_DICT => match self.record(input, at) {
                    Some(len) => len,
                    None => match self.opening(window) {
                        Some(opening) => self.dict(input, at, &opening),
                        None => break,
                    },
                },
                EMPTY_LIST => match self.opening(window) {
                    Some(opening) => self.list(input, at, &opening),
                    None => break,
                },
                SETITEMS => machine.set_items().map(|()| 1).map_err(fail)?,
                APPENDS => machine.append_all().map(|()| 1).map_err(fail)?,
                MEMOIZE => machine.memoize().map(|()| 1).map_err(fail)?,
                BINPUT => machine.put(u64::from(window[1]), bound()).map(|()| 2).map_err(fail)?,
                LONG_BINPUT => machine.put(u64::from(u32_at::<1>(window)), bound()).map(|()| 5).map_err(fail)?,
                _ => match self.value(input, at, window) {
                    Some((val, len)) => {
                        self.machine.push(val);
                        len
                    }
                    None => break,
                },
            };
        }
        Ok(at)
    }

    /// Parses the start of a container that is marked at once and has room on the stack.
    #[inline(always)]
    fn opening(&self, window: &[u8; WINDOW]) -> Option<Opening> {
        let put_len = self.put_len(head(window, 1));
        let is_marked = window[1 + put_len] == MARK && self.machine.has_room();
        is_marked.then_some(Opening { is_memoized: put_len > 0, len: 2 + put_len })
    }

    /// Returns the length of an opcode that memoizes a value under the next index, or 0 for any other opcode.
    #[inline(always)]
    fn put_len(&self, opcode: [u8; 5]) -> usize {
        put_len(opcode, self.machine.memo().len() as u64)
    }

    /// Reads a record by a template and returns the length of its opcodes.
    #[inline]
    fn record(&mut self, input: &[u8], start: usize) -> Option<usize> {
        let Self { machine, templates, .. } = self;
        if !machine.has_room() {
            return None;
        }
        let len = templates.read(input, start, machine.memo())?;
        let (template, record) = templates.last();
        if let Some((key, val)) = machine.end_record(template, record) {
            templates.keep_list(input, key, val);
        }
        Some(len)
    }

    /// Reads a dictionary, whole or up to the first unexpected opcode, and returns the length of its opcodes.
    #[inline]
    fn dict(&mut self, input: &[u8], start: usize, opening: &Opening) -> usize {
        let memo_len = self.machine.memo().len() as u64;
        let dict = self.machine.fresh(Val::FRESH_DICT, opening.is_memoized, 0);
        let mut entries = [Val::NONE; MOST_ENTRIES];
        let mut count = 0;
        let mut has_open = false;
        let mut at = start + opening.len;
        while let Some(key) = window(input, at) {
            if key[0] == SETITEMS && count > 0 {
                let entries = &mut entries[..count];
                let val = self.machine.end_dict(dict, entries, has_open);
                if self.templates.may_learn()
                    && let Some(form) = &self.machine.builder.form(val, entries)
                {
                    let example = Example { start, entries, form, memo_len };
                    self.templates.learn(input, self.machine.memo(), &example);
                }
                return at + 1 - start;
            }
            let Some((index, name_len)) = reference(head(key, 0)) else { break };
            let Some(name) = self.machine.memo().get_common(index).filter(|name| name.as_str().is_some()) else {
                break;
            };
            let Some(value) = window(input, at + name_len) else { break };
            let Some([name_place, value_place]) = entries.get_mut(count..).and_then(<[Val]>::first_chunk_mut) else {
                break;
            };
            let found = match value[0] {
                EMPTY_LIST => {
                    let list = self.list_value(input, at + name_len, value, count + 2);
                    has_open |= list.is_some_and(|(val, _)| val.is_open());
                    list
                }
                _ => self.value(input, at + name_len, value),
            };
            let Some((val, len)) = found else { break };
            (*name_place, *value_place) = (name, val);
            count += 2;
            at += name_len + len;
        }
        self.machine.leave_open(dict, &entries[..count]);
        at - start
    }

    /// Reads a list inside a dictionary that is not on the stack yet; also returns the length of its opcodes.
    ///
    /// `above` is the distance of the list's stack index from that of the dictionary.
    /// `None` leaves everything unchanged.
    #[inline]
    fn list_value(&mut self, input: &[u8], start: usize, window: &[u8; WINDOW], above: usize) -> Option<(Val, usize)> {
        let Some(opening) = self.opening(window) else {
            // A list without a mark stays empty: stacks of threads without Python are written this way.
            let put_len = self.put_len(head(window, 1));
            let is_key = matches!(window[1 + put_len], BINGET | LONG_BINGET | SETITEMS);
            return is_key.then(|| (self.machine.fresh(Val::FRESH_LIST, put_len > 0, above), 1 + put_len));
        };
        let (count, at) = self.items(input, start + opening.len);
        if count == 0 || input.get(at) != Some(&APPENDS) {
            return None;
        }
        let list = self.machine.fresh(Val::FRESH_LIST, opening.is_memoized, above);
        let val = self.machine.end_list(list, &self.items[..count], above);
        let after = input.get(at + 1..).and_then(<[u8]>::first_chunk);
        let put_len = after.map_or(0, |opcode| self.put_len(*opcode));
        if put_len > 0 {
            self.machine.memoize_closed(val);
        }
        Some((val, at + 1 + put_len - start))
    }

    /// Reads a list, whole or up to the first item outside the memo, and returns the length of its opcodes.
    fn list(&mut self, input: &[u8], start: usize, opening: &Opening) -> usize {
        let list = self.machine.fresh(Val::FRESH_LIST, opening.is_memoized, 0);
        let (count, at) = self.items(input, start + opening.len);
        self.machine.leave_open(list, &self.items[..count]);
        at - start
    }

    /// Reads items from the memo; returns their number and the position of the first other opcode.
    #[inline(always)]
    fn items(&mut self, input: &[u8], at: usize) -> (usize, usize) {
        let memo = self.machine.memo();
        references(input, at, &mut self.items[..], |index| memo.get_common(index))
    }

    /// Reads a value that is no container, and the opcode that memoizes it; also returns the length of both.
    #[inline(always)]
    fn value(&mut self, input: &[u8], at: usize, window: &[u8; WINDOW]) -> Option<(Val, usize)> {
        let memo = self.machine.memo();
        Some(match window[0] {
            LONG_BINGET | BINGET => {
                let (index, len) = reference(head(window, 0))?;
                (memo.get_common(index)?, len)
            }
            BININT1 if window[2] == BININT1 && window[4] == TUPLE2 => {
                let number = |byte: u8| Val::small_int(i32::from(byte));
                let pair = Val::pair(number(window[1]), number(window[3]))?;
                (pair, 5 + self.memoize_if(pair, window[5]))
            }
            BININT1 | BININT2 | BININT | LONG1 => integer(window)?,
            SHORT_BINUNICODE => {
                let len = usize::from(window[1]);
                let (known, val) = &self.last_text;
                // The byte behind the string tells whether it is memoized.
                let (text, next) = input.get(at + 2..at + 3 + len)?.split_at_checked(len)?;
                if known != text {
                    return None;
                }
                let val = *val;
                (val, 2 + len + self.memoize_if(val, next[0]))
            }
            _ => return None,
        })
    }

    /// Memoizes a value if `next` is `MEMOIZE`, and returns the length of that opcode or 0.
    #[inline(always)]
    fn memoize_if(&mut self, val: Val, next: u8) -> usize {
        let is_memoized = next == MEMOIZE;
        if is_memoized {
            self.machine.memoize_closed(val);
        }
        usize::from(is_memoized)
    }
}
