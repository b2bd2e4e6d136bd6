//! The memo's entries by index, in four bytes each, of which older ones are packed.
//!
//! Most entries of a snapshot are the dictionaries of events, numbered in their order, with the same two values between
//! them: two bits tell which of these an entry is, and all others are kept as they are.
//! On average, that takes a third of four bytes.
//! Entries are hardly ever used again once they are some thousands old, so that it does not matter that this takes
//! longer.
//!
//! ```text
//! entries   e7 "N/A" (0, 0) l3   e8 "N/A" (0, 0)   e9 "N/A" (0, 0) l4
//! kinds     2  0     1      3    2  0     1        2  0     1      3
//! values    "N/A"; (0, 0); from e7 on; l3, l4
//! ```

const CHUNK_BITS: u32 = 12;
const CHUNK_LEN: usize = 1 << CHUNK_BITS;
/// Number of newest chunks that are not packed.
const RECENT: usize = 2;
/// Number of entries whose kinds are one word.
const WORD_LEN: usize = 32;
const WORDS: usize = CHUNK_LEN / WORD_LEN;

/// Entries in chunks of equal length, which never move.
#[derive(Debug)]
pub(super) struct Dense {
    chunks: Vec<Chunk>,
    pub(super) len: usize,
    /// Entry that was not put.
    vacant: u32,
}

#[derive(Debug)]
enum Chunk {
    Plain(Box<[u32; CHUNK_LEN]>),
    Packed(Box<Packed>),
}

impl Dense {
    pub(super) fn new(vacant: u32) -> Self {
        Self { chunks: Vec::new(), len: 0, vacant }
    }

    #[inline(always)]
    pub(super) fn get(&self, index: usize) -> u32 {
        match self.chunks.get(index >> CHUNK_BITS) {
            Some(Chunk::Plain(entries)) => entries[index % CHUNK_LEN],
            Some(Chunk::Packed(packed)) => packed.get(index % CHUNK_LEN),
            None => self.vacant,
        }
    }

    #[inline(always)]
    pub(super) fn set(&mut self, index: usize, entry: u32) {
        let chunk = &mut self.chunks[index >> CHUNK_BITS];
        match chunk {
            Chunk::Plain(entries) => entries[index % CHUNK_LEN] = entry,
            Chunk::Packed(packed) => {
                let mut entries = packed.unpacked();
                entries[index % CHUNK_LEN] = entry;
                *chunk = Chunk::Plain(entries);
            }
        }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, entry: u32) {
        if self.len.is_multiple_of(CHUNK_LEN) {
            self.add_chunk();
        }
        self.len += 1;
        self.set(self.len - 1, entry);
    }

    #[cold]
    #[inline(never)]
    fn add_chunk(&mut self) {
        let older = self.chunks.len().checked_sub(RECENT);
        let plain = match older.and_then(|older| self.chunks.get_mut(older)) {
            Some(chunk) => chunk.pack(),
            None => None,
        };
        let mut entries = plain.unwrap_or_else(|| Box::new([0; CHUNK_LEN]));
        entries.fill(self.vacant);
        self.chunks.push(Chunk::Plain(entries));
    }
}

impl Chunk {
    /// Packs the chunk if that takes less memory, and returns the memory that it took.
    fn pack(&mut self) -> Option<Box<[u32; CHUNK_LEN]>> {
        let Self::Plain(entries) = self else { return None };
        let packed = Self::Packed(Box::new(Packed::of(entries)?));
        match std::mem::replace(self, packed) {
            Self::Plain(entries) => Some(entries),
            Self::Packed(_) => None,
        }
    }
}

// Kinds of packed entries.
const FIRST: u32 = 0;
const SECOND: u32 = 1;
const NEXT: u32 = 2;
const OTHER: u32 = 3;

#[derive(Debug)]
struct Packed {
    /// Kind of each entry, in two bits.
    kinds: [u64; WORDS],
    /// Numbers of entries before each word that are the next in a row, and that are others.
    before: [(u16, u16); WORDS],
    /// The two values that are most common.
    common: [u32; 2],
    /// First entry of those that are numbered in their order.
    start: u32,
    others: Box<[u32]>,
}

impl Packed {
    /// Returns `None` if there are too many others.
    fn of(entries: &[u32; CHUNK_LEN]) -> Option<Self> {
        const MOST_OTHERS: usize = CHUNK_LEN / 2;
        let (common, start) = Self::values(entries);
        let (mut kinds, mut before) = ([0; WORDS], [(0, 0); WORDS]);
        let (mut next, mut others) = (start, Vec::new());
        for (word, entries) in entries.chunks_exact(WORD_LEN).enumerate() {
            before[word] = (next.wrapping_sub(start) as u16, others.len() as u16);
            for (place, &entry) in entries.iter().enumerate() {
                let kind = if entry == next {
                    next = next.wrapping_add(1);
                    NEXT
                } else if entry == common[0] {
                    FIRST
                } else if entry == common[1] {
                    SECOND
                } else {
                    others.push(entry);
                    OTHER
                };
                kinds[word] |= u64::from(kind) << (2 * place);
            }
            if others.len() > MOST_OTHERS {
                return None;
            }
        }
        Some(Self { kinds, before, common, start, others: others.into() })
    }

    /// Returns the two most common values, and the first one that is followed by the next numbers; judged by the first
    /// entries.
    fn values(entries: &[u32; CHUNK_LEN]) -> ([u32; 2], u32) {
        const SAMPLE: usize = 64;
        const FOLLOWING: u32 = 6;
        let sample = &entries[..SAMPLE];
        let count = |value: u32| sample.iter().filter(|&&entry| entry == value).count();
        let most = |except: Option<u32>| {
            let counted = sample.iter().filter(|&&entry| Some(entry) != except).map(|&entry| (count(entry), entry));
            counted.max().map_or(entries[0], |(_, entry)| entry)
        };
        let first = most(None);
        let common = [first, most(Some(first))];
        let is_followed = |entry: &&u32| (1..=FOLLOWING).all(|number| sample.contains(&entry.wrapping_add(number)));
        // A number above all entries stands for none.
        let start = sample.iter().find(is_followed).copied().unwrap_or(u32::MAX - CHUNK_LEN as u32);
        (common, start)
    }

    fn get(&self, index: usize) -> u32 {
        let (word, place) = (index / WORD_LEN, index % WORD_LEN);
        let kinds = self.kinds[word];
        let kind = (kinds >> (2 * place)) as u32 & 3;
        let (next_before, others_before) = self.before[word];
        let rank = |before: u16| usize::from(before) + count_before(kinds, place, kind);
        match kind {
            FIRST | SECOND => self.common[kind as usize],
            NEXT => self.start.wrapping_add(rank(next_before) as u32),
            _ => self.others[rank(others_before)],
        }
    }

    fn unpacked(&self) -> Box<[u32; CHUNK_LEN]> {
        let mut entries = Box::new([0; CHUNK_LEN]);
        entries.iter_mut().enumerate().for_each(|(index, entry)| *entry = self.get(index));
        entries
    }
}

/// Returns how many of the first `place` kinds of a word are this one.
fn count_before(kinds: u64, place: usize, kind: u32) -> usize {
    /// Lower bit of each kind.
    const LOWER: u64 = 0x5555_5555_5555_5555;
    let same = !(kinds ^ (LOWER * u64::from(kind)));
    let same = same & (same >> 1) & LOWER;
    (same & ((1 << (2 * place)) - 1)).count_ones() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const VACANT: u32 = 9 << 28;
    const EVENT: u32 = 2 << 28;

    /// Checks that entries come back, also after some of them were replaced, and how many chunks are packed.
    #[track_caller]
    fn check(len: usize, packed: usize, entry: impl Fn(usize) -> u32) {
        let mut dense = Dense::new(VACANT);
        (0..len).for_each(|index| dense.push(entry(index)));
        assert_eq!(dense.chunks.iter().filter(|chunk| matches!(chunk, Chunk::Packed(_))).count(), packed);
        (0..len).for_each(|index| assert_eq!(dense.get(index), entry(index), "{index}"));
        for index in (0..len).step_by(777) {
            dense.set(index, 5);
        }
        (0..len).for_each(|index| assert_eq!(dense.get(index), if index % 777 == 0 { 5 } else { entry(index) }));
        assert_eq!(dense.get(len.next_multiple_of(CHUNK_LEN)), VACANT);
    }

    #[test]
    fn entries_of_events_are_packed() {
        let entry = |index: usize| match index % 4 {
            0 => EVENT + index as u32 / 4,
            1 => 10 << 28 | 77,
            2 => 11 << 28,
            _ => 1 << 28 | (index * 31 % 5000) as u32,
        };
        check(CHUNK_LEN * 5 + 3, 4, entry);
        check(CHUNK_LEN - 1, 0, entry);
    }

    #[test]
    fn any_entries_come_back() {
        check(CHUNK_LEN * 4, 0, |index| (index as u32).wrapping_mul(0x9e37_79b9));
        check(CHUNK_LEN * 4, 2, |_| VACANT);
        check(CHUNK_LEN * 4, 2, |index| index as u32);
        check(CHUNK_LEN * 4, 2, |index| u32::MAX - (index % 3) as u32);
    }
}
