//! Allocations by a number, sorted as far as somebody looks.
//!
//! Idea: a table of millions of rows shows sixty. Rows are dealt into buckets by the leading bits of their numbers, and
//! a bucket is sorted when a row of it is asked for.
//!
//! ```text
//! numbers    5000 3 5001 700 3 4999        in buckets    3 3 │ 700 │ 5000 5001 4999
//! row 4 is asked for: its bucket is sorted               3 3 │ 700 │ 4999 5000 5001
//! ```
//!
//! Cost: two passes over the rows; a bucket has the numbers that are the same in their [`LEADING_BITS`] leading bits,
//! or equal ones, which are in order already.

use shared::analysis::AllocationId;

/// How many leading bits of a number tell its bucket: less than a thousandth of the number is left open.
const LEADING_BITS: u32 = 11;

/// Rows in the order of a number each; equal ones are in the order in which they came.
#[derive(Clone, Debug)]
pub(super) struct Order {
    rows: Vec<AllocationId>,
    is_rising: bool,
    /// The buckets that are not empty: where each ends, and whether it is sorted.
    buckets: Vec<(u32, bool)>,
}

impl Order {
    /// Deals rows into buckets; `key` is the number of a row.
    pub(super) fn new(ids: &[AllocationId], is_rising: bool, key: impl Fn(AllocationId) -> u64) -> Self {
        let last = bucket_of(u64::MAX);
        let place = |id| if is_rising { bucket_of(key(id)) } else { last - bucket_of(key(id)) };
        let mut ends = vec![0_u32; last + 1];
        ids.iter().for_each(|&id| ends[place(id)] += 1);
        let mut before = 0;
        for end in &mut ends {
            before += std::mem::replace(end, before);
        }
        let mut rows = vec![AllocationId::from_index(0); ids.len()];
        for &id in ids {
            let end = &mut ends[place(id)];
            rows[*end as usize] = id;
            *end += 1;
        }
        ends.dedup();
        let buckets = ends.into_iter().filter(|&end| end > 0).map(|end| (end, false)).collect();
        Self { rows, is_rising, buckets }
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Some rows in their order, as far as there are so many; `key` is the one that they were dealt by.
    pub(super) fn window(&mut self, first: usize, count: usize, key: impl Fn(AllocationId) -> u64) -> &[AllocationId] {
        let first = first.min(self.rows.len());
        let wanted = first..first.saturating_add(count).min(self.rows.len());
        let from = self.buckets.partition_point(|&(end, _)| end as usize <= wanted.start);
        let mut start = from.checked_sub(1).map_or(0, |before| self.buckets[before].0 as usize);
        for (end, is_sorted) in &mut self.buckets[from..] {
            if start >= wanted.end {
                break;
            }
            let bucket = &mut self.rows[start..*end as usize];
            match (std::mem::replace(is_sorted, true), self.is_rising) {
                (true, _) => {}
                (false, true) => bucket.sort_by_key(|&id| key(id)),
                (false, false) => bucket.sort_by_key(|&id| std::cmp::Reverse(key(id))),
            }
            start = *end as usize;
        }
        &self.rows[wanted]
    }
}

/// The bucket of a number: numbers below 2^11 have their own, larger ones share that of their leading bits.
fn bucket_of(key: u64) -> usize {
    let open_bits = (u64::BITS - key.leading_zeros()).saturating_sub(LEADING_BITS);
    ((open_bits as usize) << (LEADING_BITS - 1)) + (key >> open_bits) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random numbers of as many bits as their neighbours, or few ones that come again and again.
    fn numbers(seed: u64, count: usize) -> Vec<u64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let bits = [64, 12, 3, 40, 1][seed as usize % 5];
        (0..count).map(|_| if bits == 40 { next() >> (next() % 64) } else { next() >> (64 - bits) }).collect()
    }

    #[test]
    fn windows_are_those_of_all_rows_sorted() {
        for seed in 0..60 {
            let numbers = numbers(seed, [0, 1, 50, 3000][seed as usize % 4]);
            let key = |id: AllocationId| numbers[id.index()];
            let ids: Vec<AllocationId> = (0..numbers.len()).map(AllocationId::from_index).collect();
            for is_rising in [false, true] {
                let mut expected = ids.clone();
                expected.sort_by_key(|&id| if is_rising { key(id) } else { u64::MAX - key(id) });
                let mut order = Order::new(&ids, is_rising, key);
                assert_eq!(order.len(), ids.len());
                for (first, count) in [(40, 20), (0, 7), (2990, 60), (700, 1), (9000, 5), (0, usize::MAX)] {
                    let range = first.min(ids.len())..first.saturating_add(count).min(ids.len());
                    assert_eq!(order.window(first, count, key), &expected[range], "seed {seed}, {first} + {count}");
                }
            }
        }
    }

    #[test]
    fn buckets_are_in_the_order_of_their_numbers() {
        let around = (2..64).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        let buckets: Vec<usize> = around.chain([u64::MAX]).map(bucket_of).collect();
        assert!(buckets.is_sorted());
        assert!((0..2048).all(|number| bucket_of(number) == number as usize));
    }
}
