//! Recognises records that are written like an earlier one, and lists of memo references, by their bytes.
//!
//! One loop of PyTorch writes all events, so that most bytes of an event equal those of the events before it: the keys,
//! the opcodes between them, and the values that events share.
//! A template holds these bytes, to be compared eight at a time, and the places of the values between them:
//!
//! ```text
//! }\x94(h\x05  h\x06  h\x07   \x8a\x06……  h\x08    J……  h\x09K\x00h\x0a   \x8a\x07……   u
//! same         name   same    integer     same  integer  same             integer    same
//! ```

use super::Val;
use super::memo::Memo;
use super::opcode::{BINGET, LONG_BINGET, *};
use super::parse::{head, integer, put_len, reference, references, window};

/// Number of values that a builder takes from a record.
pub const RECORD_VALUES: usize = 5;
/// Maximum number of items of a list that is read as a whole; a longer list goes over the stack.
pub(super) const MOST_ITEMS: usize = 256;

/// How a value differs from one record of a template to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Same,
    /// It is a string in the memo; the number is its place among the values of a record.
    Name(usize),
    Integer(usize),
    /// It is a list of values in the memo, which is written in place or is itself in the memo; no record has two.
    List(usize),
}

/// What a builder says about a record, so that later ones are recognised by their bytes.
#[derive(Clone, Debug)]
pub struct Form {
    /// Number that the builder gets back with each record.
    pub tag: u32,
    /// Role of each value, in the order of the entries.
    pub roles: Vec<Role>,
}

/// Step of reading a record.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// Up to eight bytes that are the same; `puts` of their opcodes memoize a value.
    Short {
        word: Word,
        len: usize,
        puts: u64,
    },
    /// The same for more bytes, by the index of their block.
    Long {
        block: usize,
        len: usize,
        puts: u64,
    },
    /// `BINPUT` or `LONG_BINPUT` with the next index.
    Put,
    Name(usize),
    Integer(usize),
    List(usize),
}

/// Value that a record memoizes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Memoized {
    Record,
    Same(Val),
    /// The list, as often as it is memoized.
    List,
}

/// Eight bytes, and those of their bits that count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word {
    bytes: u64,
    mask: u64,
}

impl Word {
    /// Creates a word of at most eight bytes.
    pub(super) fn new(bytes: &[u8]) -> Self {
        let of = |fill: &dyn Fn(usize) -> u8| u64::from_le_bytes(std::array::from_fn(fill));
        Self {
            bytes: of(&|byte| bytes.get(byte).copied().unwrap_or(0)),
            mask: of(&|byte| if byte < bytes.len() { 0xff } else { 0 }),
        }
    }

    #[inline(always)]
    fn differ(self, bytes: &[u8; 8]) -> u64 {
        (u64::from_le_bytes(*bytes) ^ self.bytes) & self.mask
    }
}

/// Number of words in a block: events of torch 2.15 have 34 equal bytes in a row.
const BLOCK_WORDS: usize = 5;
pub(super) const BLOCK_BYTES: usize = 8 * BLOCK_WORDS;

/// Form of records, learnt from one of them.
#[derive(Clone, Debug)]
pub(super) struct Template {
    pub(super) tag: u32,
    pub(super) blocks: Vec<[Word; BLOCK_WORDS]>,
    pub(super) parts: Vec<Part>,
    pub(super) memoized: Vec<Memoized>,
    /// Keys and values of the learnt record.
    pub(super) entries: Vec<Val>,
    /// Position of each varying value in `entries`.
    pub(super) places: [Option<usize>; RECORD_VALUES],
}

/// Values of the record that was read last.
#[derive(Debug)]
pub(super) struct Record {
    /// Values by place; `None` where the record has none, and for a list that is written in place.
    pub(super) values: [Val; RECORD_VALUES],
    pub(super) list: Option<InlineList>,
    /// Items of the list, unless it is known.
    pub(super) items: Box<[Val; MOST_ITEMS]>,
}

/// List that is written in place.
#[derive(Clone, Copy, Debug)]
pub(super) struct InlineList {
    /// Place among the values of the record.
    pub(super) place: usize,
    /// Number of opcodes that memoize it.
    pub(super) puts: u64,
    pub(super) items: Items,
}

/// Content of a list that is written in place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Items {
    Empty,
    Known(Val),
    /// As many are in the buffer; the key is that of all of them.
    New(usize, Option<ListKey>),
}

impl Default for Record {
    fn default() -> Self {
        Self { values: [Val::NONE; RECORD_VALUES], list: None, items: Box::new([Val::NONE; MOST_ITEMS]) }
    }
}

/// What records are read from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) input: &'a [u8],
    pub(super) memo: &'a Memo,
    pub(super) lists: &'a KnownLists,
}

impl Template {
    /// Reads the record at `start` if it has this form, and returns the length of its opcodes.
    #[inline]
    pub(super) fn read(&self, source: Source<'_>, start: usize, record: &mut Record) -> Option<usize> {
        let mut at = start;
        let mut next = source.memo.len() as u64;
        record.values = [Val::NONE; RECORD_VALUES];
        record.list = None;
        for part in &self.parts {
            let (len, puts) = self.step(*part, source, at, next, record)?;
            at += len;
            next += puts;
        }
        Some(at - start)
    }

    /// Reads a part; returns the length of its opcodes, and how many of them memoize a value.
    ///
    /// The first such value has the index `next`.
    #[inline(always)]
    pub(super) fn step(
        &self,
        part: Part,
        source: Source<'_>,
        at: usize,
        next: u64,
        record: &mut Record,
    ) -> Option<(usize, u64)> {
        let Source { input, memo, .. } = source;
        Some(match part {
            Part::Short { word, len, puts } => {
                if word.differ(input.get(at..)?.first_chunk()?) != 0 {
                    return None;
                }
                (len, puts)
            }
            Part::Long { block, len, puts } => {
                let bytes: &[u8; BLOCK_BYTES] = input.get(at..)?.first_chunk()?;
                let (bytes, block) = (bytes.as_chunks().0, &self.blocks[block]);
                if (0..BLOCK_WORDS).fold(0, |bits, word| bits | block[word].differ(&bytes[word])) != 0 {
                    return None;
                }
                (len, puts)
            }
            Part::Integer(place) => {
                let (val, len) = integer(window(input, at)?)?;
                record.values[place] = val;
                (len, 0)
            }
            Part::Name(place) => {
                let (index, len) = reference(head(window(input, at)?, 0))?;
                record.values[place] = memo.get_common(index)?;
                (len, 0)
            }
            Part::List(place) => match reference(head(window(input, at)?, 0)) {
                Some((index, len)) => {
                    record.values[place] = memo.get_common(index)?;
                    (len, 0)
                }
                None => {
                    let (items, len, puts) = source.inline_list(at, next, &mut record.items[..])?;
                    record.list = Some(InlineList { place, puts, items });
                    (len, puts)
                }
            },
            Part::Put => {
                let len = put_len(head(window(input, at)?, 0), next);
                if len < 2 {
                    return None;
                }
                (len, 1)
            }
        })
    }

    /// Returns the keys and values of a record with these varying values.
    #[cold]
    pub(super) fn entries(&self, values: &[Val; RECORD_VALUES]) -> Vec<Val> {
        let mut entries = self.entries.clone();
        for (&val, place) in values.iter().zip(self.places) {
            if let Some(place) = place {
                entries[place] = val;
            }
        }
        entries
    }
}

impl Source<'_> {
    /// Reads the list at `at`, with its items unless it is known.
    ///
    /// Also returns the length of its opcodes and how many of them memoize it, the first time under the index `next`.
    #[inline(always)]
    fn inline_list(self, at: usize, next: u64, buffer: &mut [Val]) -> Option<(Items, usize, u64)> {
        let Self { input, memo, lists } = self;
        let start = window(input, at)?;
        if start[0] != EMPTY_LIST {
            return None;
        }
        let put = put_len(head(start, 1), next);
        let puts = u64::from(put > 0);
        let content = at + 1 + put;
        if start[1 + put] != MARK {
            return Some((Items::Empty, content - at, puts));
        }
        let key = KnownLists::key(input, content + 1);
        let (items, end) = match lists.get(input, key) {
            Some(val) if input.get(key.end) == Some(&APPENDS) => (Items::Known(val), key.end),
            _ => {
                let (count, end) = references(input, content + 1, buffer, |index| memo.get_common(index));
                if count == 0 {
                    return None;
                }
                (Items::New(count, (key.end == end).then_some(key)), end)
            }
        };
        let &[APPENDS, ref after @ ..] = input.get(end..)?.first_chunk::<6>()? else { return None };
        let put = put_len(*after, next + puts);
        Some((items, end + 1 + put - at, puts + u64::from(put > 0)))
    }
}

/// Cache of lists, looked up by a hash of their bytes.
///
/// Most stacks of a trace are written again and again, a reference to each of their frames.
/// The bytes of a list tell its value as long as no entry of the memo is replaced.
#[derive(Debug)]
pub(super) struct KnownLists(Vec<KnownList>);

#[derive(Clone, Debug)]
struct KnownList {
    bytes: Vec<u8>,
    val: Val,
}

/// Bytes of a list's references, and where a list of these bytes is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListKey {
    slot: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Default for KnownLists {
    fn default() -> Self {
        Self(vec![KnownList { bytes: Vec::new(), val: Val::NONE }; 1 << Self::BITS])
    }
}

impl KnownLists {
    const BITS: u32 = 11;

    /// Returns the key of the references from `start` on, which end at the first other opcode.
    #[inline(always)]
    pub(super) fn key(input: &[u8], start: usize) -> ListKey {
        // Knuth's multiplicative hashing; bytes are compared before a list is used.
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let (mut hash, mut end) = (0u64, start);
        while let Some(&[opcode, ref data @ ..]) = input[end..].first_chunk::<5>() {
            // References of both lengths are mixed, so that a branch for each would hardly ever be predicted.
            let is_long = opcode == LONG_BINGET;
            if !is_long && opcode != BINGET {
                break;
            }
            let index = u32::from_le_bytes(*data) & if is_long { u32::MAX } else { 0xff };
            hash = (hash.rotate_left(5) ^ u64::from(index)).wrapping_mul(FACTOR);
            end += if is_long { 5 } else { 2 };
        }
        ListKey { slot: (hash >> (64 - Self::BITS)) as usize, start, end }
    }

    #[inline(always)]
    pub(super) fn get(&self, input: &[u8], key: ListKey) -> Option<Val> {
        let known = &self.0[key.slot];
        (key.end > key.start && known.bytes == input[key.start..key.end]).then_some(known.val)
    }

    /// Keeps the value of a list, in the place of another one.
    #[inline(never)]
    pub(super) fn set(&mut self, input: &[u8], key: ListKey, val: Val) {
        let known = &mut self.0[key.slot];
        known.bytes.clear();
        known.bytes.extend_from_slice(&input[key.start..key.end]);
        known.val = val;
    }

    pub(super) fn clear(&mut self) {
        self.0.iter_mut().for_each(|known| known.bytes.clear());
    }
}
