//! A growable column of numbers that takes as few bytes a row as each chunk of it needs.
//!
//! The columns of events take half of what plain numbers would.

use std::marker::PhantomData;
use std::ops::Range;

const CHUNK_BITS: u32 = 14;
const CHUNK_ROWS: usize = 1 << CHUNK_BITS;

/// Value that is stored as a number of 64 bits.
pub trait Word: Copy {
    fn to_word(self) -> u64;
    fn of_word(word: u64) -> Self;
}

macro_rules! number_words {
    ($($number:ty),*) => {$(
        impl Word for $number {
            #[inline]
            fn to_word(self) -> u64 {
                self as u64
            }

            #[inline]
            fn of_word(word: u64) -> Self {
                word as Self
            }
        }
    )*};
}

number_words!(u64, i64);

/// Growable array of numbers in chunks of 16,384 rows.
///
/// A full chunk is stored as the differences from its smallest number, without the zero bits at the end of all of them.
/// Times of neighbouring events differ by seconds and addresses lie on multiples of 512 bytes, so that most chunks need
/// four bytes a row instead of eight, and those of one value none.
/// An index or a range that ends beyond its length panics, except in [`get`](Self::get).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedColumn<T> {
    full: Vec<Chunk>,
    /// Rows behind the full chunks, fewer than a chunk.
    last: Vec<u64>,
    of: PhantomData<T>,
}

/// Full chunk: row `i` is `base + (rows[i] << shift)`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Chunk {
    base: u64,
    shift: u32,
    rows: Rows,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rows {
    /// All rows equal the base.
    Same,
    Bytes(Box<[u8]>),
    Halves(Box<[u16]>),
    Words(Box<[u32]>),
    Long(Box<[u64]>),
}

impl Chunk {
    fn of(rows: &[u64]) -> Self {
        let base = rows.iter().copied().min().unwrap_or(0);
        let bits = rows.iter().fold(0, |bits, &row| bits | (row - base));
        let shift = if bits == 0 { 0 } else { bits.trailing_zeros() };
        let packed = rows.iter().map(|&row| (row - base) >> shift);
        let rows = match bits >> shift {
            0 => Rows::Same,
            1..=0xff => Rows::Bytes(packed.map(|row| row as u8).collect()),
            0x100..=0xffff => Rows::Halves(packed.map(|row| row as u16).collect()),
            0x1_0000..=0xffff_ffff => Rows::Words(packed.map(|row| row as u32).collect()),
            _ => Rows::Long(packed.collect()),
        };
        Self { base, shift, rows }
    }

    #[inline]
    fn at(&self, index: usize) -> u64 {
        let packed = match &self.rows {
            Rows::Words(rows) => u64::from(rows[index]),
            Rows::Bytes(rows) => u64::from(rows[index]),
            Rows::Halves(rows) => u64::from(rows[index]),
            Rows::Long(rows) => rows[index],
            Rows::Same => 0,
        };
        self.base + (packed << self.shift)
    }

    /// Unpacks the rows from `first` on, as many as `values` has room for.
    fn unpack(&self, first: usize, values: &mut [u64]) {
        match &self.rows {
            Rows::Words(rows) => self.unpack_rows(&rows[first..], values),
            Rows::Bytes(rows) => self.unpack_rows(&rows[first..], values),
            Rows::Halves(rows) => self.unpack_rows(&rows[first..], values),
            Rows::Long(rows) => self.unpack_rows(&rows[first..], values),
            Rows::Same => values.fill(self.base),
        }
    }

    fn unpack_rows<R: Copy + Into<u64>>(&self, rows: &[R], values: &mut [u64]) {
        for (value, &row) in values.iter_mut().zip(rows) {
            *value = self.base + (row.into() << self.shift);
        }
    }

    fn size_bytes(&self) -> usize {
        match &self.rows {
            Rows::Same => 0,
            Rows::Bytes(rows) => size_of_val(&**rows),
            Rows::Halves(rows) => size_of_val(&**rows),
            Rows::Words(rows) => size_of_val(&**rows),
            Rows::Long(rows) => size_of_val(&**rows),
        }
    }
}

impl<T> Default for PackedColumn<T> {
    fn default() -> Self {
        Self { full: Vec::new(), last: Vec::new(), of: PhantomData }
    }
}

impl<T: Word> PackedColumn<T> {
    #[inline]
    pub fn len(&self) -> usize {
        (self.full.len() << CHUNK_BITS) + self.last.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub fn push(&mut self, value: T) {
        self.last.push(value.to_word());
        if self.last.len() == CHUNK_ROWS {
            self.pack();
        }
    }

    #[cold]
    #[inline(never)]
    fn pack(&mut self) {
        self.full.push(Chunk::of(&self.last));
        self.last.clear();
    }

    #[inline]
    pub fn at(&self, index: usize) -> T {
        T::of_word(match self.full.get(index >> CHUNK_BITS) {
            Some(chunk) => chunk.at(index % CHUNK_ROWS),
            None => self.last[index - (self.full.len() << CHUNK_BITS)],
        })
    }

    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        (index < self.len()).then(|| self.at(index))
    }

    pub fn iter(&self) -> Values<'_, T> {
        self.range(0..self.len())
    }

    pub fn range(&self, rows: Range<usize>) -> Values<'_, T> {
        assert!(rows.end <= self.len(), "range {rows:?} of a column of {} rows", self.len());
        Values { column: self, packed: rows, batch: [0; BATCH_ROWS], unpacked: 0..0 }
    }

    pub fn size_bytes(&self) -> usize {
        self.full.iter().map(Chunk::size_bytes).sum::<usize>() + size_of_val(&*self.last)
    }

    /// Iterates over the rows in order and frees each chunk after its last row.
    pub fn into_rows(self) -> impl Iterator<Item = T> {
        let of_chunk = |chunk: Chunk| (0..CHUNK_ROWS).map(move |index| chunk.at(index));
        self.full.into_iter().flat_map(of_chunk).chain(self.last).map(T::of_word)
    }
}

/// Number of rows that an iterator unpacks at once.
const BATCH_ROWS: usize = 32;

/// Rows of a column in order, unpacked in batches: what a chunk's rows are is looked up once for all of a batch.
#[derive(Clone, Debug)]
pub struct Values<'a, T> {
    column: &'a PackedColumn<T>,
    /// Rows that come after the batch.
    packed: Range<usize>,
    batch: [u64; BATCH_ROWS],
    /// Positions in the batch of the rows that were not taken yet.
    unpacked: Range<usize>,
}

impl<T: Word> Values<'_, T> {
    #[inline(never)]
    fn unpack(&mut self) {
        let (chunk, first) = (self.packed.start >> CHUNK_BITS, self.packed.start % CHUNK_ROWS);
        let len = self.packed.len().min(BATCH_ROWS).min(CHUNK_ROWS - first);
        let values = &mut self.batch[..len];
        match self.column.full.get(chunk) {
            Some(chunk) => chunk.unpack(first, values),
            None => values.copy_from_slice(&self.column.last[first..first + len]),
        }
        self.packed.start += len;
        self.unpacked = 0..len;
    }
}

impl<T: Word> Iterator for Values<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.unpacked.is_empty() {
            if self.packed.is_empty() {
                return None;
            }
            self.unpack();
        }
        let value = self.batch[self.unpacked.start];
        self.unpacked.start += 1;
        Some(T::of_word(value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.unpacked.len() + self.packed.len();
        (len, Some(len))
    }
}

impl<T: Word> DoubleEndedIterator for Values<'_, T> {
    fn next_back(&mut self) -> Option<T> {
        match self.packed.next_back() {
            Some(row) => Some(self.column.at(row)),
            None => self.unpacked.next_back().map(|position| T::of_word(self.batch[position])),
        }
    }
}

impl<T: Word> ExactSizeIterator for Values<'_, T> {}

impl<T: Word> FromIterator<T> for PackedColumn<T> {
    fn from_iter<I: IntoIterator<Item = T>>(rows: I) -> Self {
        let mut column = Self::default();
        rows.into_iter().for_each(|row| column.push(row));
        column
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = CHUNK_ROWS * 2 + 5;

    /// Checks that rows come back by each way, and the bytes of a full chunk.
    #[track_caller]
    fn check(bytes_per_row: usize, row: impl Fn(u64) -> i64) {
        let expected: Vec<i64> = (0..N as u64).map(row).collect();
        let column: PackedColumn<i64> = expected.iter().copied().collect();
        assert_eq!(column.len(), N);
        assert!(column.iter().eq(expected.iter().copied()));
        assert!(column.iter().rev().eq(expected.iter().rev().copied()));
        for range in [0..0, 3..9, CHUNK_ROWS - 1..CHUNK_ROWS + 1, CHUNK_ROWS..N, N..N] {
            assert!(column.range(range.clone()).eq(expected[range].iter().copied()));
        }
        let mut both = column.range(5..90);
        let taken = [both.next(), both.next_back(), both.next(), both.nth(31), both.next_back()];
        assert_eq!((taken, both.len()), ([5, 89, 6, 38, 88].map(|row| Some(expected[row])), 49));
        assert!(both.rev().eq(expected[39..88].iter().rev().copied()));
        assert_eq!((column.get(N), column.get(N - 1)), (None, Some(expected[N - 1])));
        assert_eq!(column.size_bytes(), 2 * CHUNK_ROWS * bytes_per_row + 5 * 8);
        assert!(column.into_rows().eq(expected));
    }

    #[test]
    fn chunks_take_what_their_numbers_need() {
        check(0, |_| -7);
        check(1, |index| 1_700_000_000_000_000 + (index % 256) as i64);
        check(2, |index| 0x7f00_0000_0000 + ((index * 77 % 60_000) << 9) as i64);
        check(4, |index| (index * 1_000_003 % (1 << 32)) as i64);
        check(8, |index| if index % 2 == 0 { -1 } else { index as i64 });
        check(8, |index| (index as i64).wrapping_mul(0x1234_5678_9abc_def1));
    }

    #[test]
    fn a_small_column_is_small() {
        let column: PackedColumn<u64> = [u64::MAX, 0].into_iter().collect();
        assert_eq!((column.at(0), column.at(1), column.size_bytes()), (u64::MAX, 0, 16));
        assert!(PackedColumn::<u64>::default().is_empty());
    }
}
