//! A growable column of rows in fixed-size chunks that never move.
//!
//! WebAssembly memory cannot shrink, and a `Vec` that doubles needs three times its content for a moment.

use std::ops::Range;

const CHUNK_BITS: u32 = 14;
const CHUNK_ROWS: usize = 1 << CHUNK_BITS;

/// Growable array in chunks of equal length.
///
/// A `Vec` grows by doubling and copying: while it does, it needs three times the memory of its content.
/// A column grows by whole chunks instead, because WebAssembly memory can't shrink again.
/// A chunk holds 16,384 rows; only the first one grows like a `Vec`, so that small columns stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column<T> {
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }
}

impl<T: Copy> Column<T> {
    /// Creates an empty column, which allocates nothing.
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
            Some(chunk) if chunk.len() < CHUNK_ROWS => chunk.push(value),
            _ => self.push_chunk(value),
        }
        self.len += 1;
    }

    #[cold]
    fn push_chunk(&mut self, value: T) {
        let mut chunk = if self.chunks.is_empty() { Vec::new() } else { Vec::with_capacity(CHUNK_ROWS) };
        chunk.push(value);
        self.chunks.push(chunk);
    }

    /// Returns the row at `index`.
    ///
    /// # Panics
    /// Panics if `index` is not below [`len`](Self::len).
    #[inline]
    pub fn at(&self, index: usize) -> T {
        self.chunks[index >> CHUNK_BITS][index & (CHUNK_ROWS - 1)]
    }

    /// Returns the row at `index`, or `None` beyond the end.
    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        self.chunks.get(index >> CHUNK_BITS)?.get(index & (CHUNK_ROWS - 1)).copied()
    }

    /// Replaces the row at `index`.
    ///
    /// # Panics
    /// Panics if `index` is not below [`len`](Self::len).
    #[inline]
    pub fn set(&mut self, index: usize, value: T) {
        self.chunks[index >> CHUNK_BITS][index & (CHUNK_ROWS - 1)] = value;
    }

    /// Iterates over all rows in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = T> + '_ {
        self.chunks.iter().flat_map(|chunk| chunk.iter().copied())
    }

    /// Iterates over a range of rows in order.
    ///
    /// # Panics
    /// Panics if the range ends beyond [`len`](Self::len).
    pub fn range(&self, rows: Range<usize>) -> impl Iterator<Item = T> + '_ {
        assert!(rows.end <= self.len, "range {rows:?} of a column of {} rows", self.len);
        let first = rows.start >> CHUNK_BITS;
        let last = rows.end.div_ceil(CHUNK_ROWS).max(first);
        self.chunks[first.min(self.chunks.len())..last.min(self.chunks.len())].iter().enumerate().flat_map(
            move |(offset, chunk)| {
                let base = (first + offset) << CHUNK_BITS;
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

    /// Returns the bytes of the rows, without the unused end of the last chunk.
    pub fn size_bytes(&self) -> usize {
        self.len * size_of::<T>()
    }
}

impl<T> IntoIterator for Column<T> {
    type Item = T;
    type IntoIter = std::iter::Flatten<std::vec::IntoIter<Vec<T>>>;

    /// Iterates over the rows in order and frees each chunk after its last row.
    fn into_iter(self) -> Self::IntoIter {
        self.chunks.into_iter().flatten()
    }
}

impl<T: Copy> FromIterator<T> for Column<T> {
    fn from_iter<I: IntoIterator<Item = T>>(rows: I) -> Self {
        let mut column = Self::new();
        rows.into_iter().for_each(|row| column.push(row));
        column
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_across_chunks() {
        let n = CHUNK_ROWS * 2 + 5;
        let column: Column<u32> = (0..n as u32).collect();
        assert_eq!(column.len(), n);
        assert!(column.iter().eq(0..n as u32));
        assert_eq!(column.at(CHUNK_ROWS), CHUNK_ROWS as u32);
        assert_eq!(column.get(n), None);
    }

    #[test]
    fn a_range_is_a_slice_of_the_rows() {
        let n = CHUNK_ROWS * 2 + 5;
        let column: Column<u32> = (0..n as u32).collect();
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
