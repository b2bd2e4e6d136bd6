//! A growable column of rows in fixed-size chunks that never move.
//!
//! WebAssembly memory cannot shrink, and a `Vec` that doubles needs three times its content for a moment.

use std::ops::Range;

/// Binary logarithm of the rows of a chunk, unless a column says otherwise.
const CHUNK_BITS: u32 = 14;

/// Growable array in chunks of equal length, which grows by whole chunks.
///
/// A chunk holds 2^`BITS` rows; only the first one grows like a `Vec`, so that small columns stay small.
/// An index or a range that ends beyond its length panics, except in [`get`](Self::get).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column<T, const BITS: u32 = CHUNK_BITS> {
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T, const BITS: u32> Default for Column<T, BITS> {
    fn default() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }
}

impl<T, const BITS: u32> Column<T, BITS> {
    const CHUNK_ROWS: usize = 1 << BITS;

    pub fn new() -> Self {
        Self::default()
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub fn push(&mut self, value: T) {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < Self::CHUNK_ROWS => chunk.push(value),
            _ => self.push_chunk(value),
        }
        self.len += 1;
    }

    #[cold]
    fn push_chunk(&mut self, value: T) {
        let mut chunk = if self.chunks.is_empty() { Vec::new() } else { Vec::with_capacity(Self::CHUNK_ROWS) };
        chunk.push(value);
        self.chunks.push(chunk);
    }

    #[inline]
    pub fn get_ref(&self, index: usize) -> &T {
        &self.chunks[index >> BITS][index % Self::CHUNK_ROWS]
    }

    #[inline]
    pub fn get_mut(&mut self, index: usize) -> &mut T {
        &mut self.chunks[index >> BITS][index % Self::CHUNK_ROWS]
    }
}

impl<T: Copy, const BITS: u32> Column<T, BITS> {
    #[inline]
    pub fn at(&self, index: usize) -> T {
        *self.get_ref(index)
    }

    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        self.chunks.get(index >> BITS)?.get(index % Self::CHUNK_ROWS).copied()
    }

    #[inline]
    pub fn set(&mut self, index: usize, value: T) {
        *self.get_mut(index) = value;
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = T> + '_ {
        self.chunks.iter().flat_map(|chunk| chunk.iter().copied())
    }

    pub fn range(&self, rows: Range<usize>) -> impl Iterator<Item = T> + '_ {
        assert!(rows.end <= self.len, "range {rows:?} of a column of {} rows", self.len);
        let first = rows.start >> BITS;
        let last = rows.end.div_ceil(Self::CHUNK_ROWS).max(first);
        self.chunks[first.min(self.chunks.len())..last.min(self.chunks.len())].iter().enumerate().flat_map(
            move |(offset, chunk)| {
                let base = (first + offset) << BITS;
                let from = rows.start.saturating_sub(base).min(chunk.len());
                let to = rows.end.saturating_sub(base).clamp(from, chunk.len());
                chunk[from..to].iter().copied()
            },
        )
    }

    pub fn pop(&mut self) -> Option<T> {
        let chunk = self.chunks.last_mut()?;
        let value = chunk.pop();
        if chunk.is_empty() {
            self.chunks.pop();
        }
        self.len -= usize::from(value.is_some());
        value
    }

    pub fn size_bytes(&self) -> usize {
        self.len * size_of::<T>()
    }
}

/// Iterates over the rows in order and frees each chunk after its last row.
impl<T, const BITS: u32> IntoIterator for Column<T, BITS> {
    type Item = T;
    type IntoIter = std::iter::Flatten<std::vec::IntoIter<Vec<T>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.chunks.into_iter().flatten()
    }
}

impl<T: Copy, const BITS: u32> FromIterator<T> for Column<T, BITS> {
    fn from_iter<I: IntoIterator<Item = T>>(rows: I) -> Self {
        let mut column = Self::new();
        rows.into_iter().for_each(|row| column.push(row));
        column
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK_ROWS: usize = 1 << CHUNK_BITS;

    #[test]
    fn rows_and_ranges_come_back_across_chunks() {
        let n = CHUNK_ROWS * 2 + 5;
        let column: Column<u32> = (0..n as u32).collect();
        assert_eq!(column.len(), n);
        assert!(column.iter().eq(0..n as u32));
        assert_eq!(column.at(CHUNK_ROWS), CHUNK_ROWS as u32);
        assert_eq!(column.get(n), None);
        for range in [0..0, 0..n, 3..9, CHUNK_ROWS - 1..CHUNK_ROWS + 1, CHUNK_ROWS..CHUNK_ROWS, n..n, CHUNK_ROWS..n] {
            assert!(column.range(range.clone()).eq(range.start as u32..range.end as u32), "{range:?}");
        }
    }

    #[test]
    fn pop_undoes_push() {
        let mut column: Column<u32> = (0..CHUNK_ROWS as u32 + 1).collect();
        assert_eq!(column.pop(), Some(CHUNK_ROWS as u32));
        assert_eq!(column.len(), CHUNK_ROWS);
        column.push(7);
        assert_eq!(column.at(CHUNK_ROWS), 7);
    }
}
