//! Sorts allocations by a number, but only as far as rows are looked at.
//!
//! Idea: a table of millions of rows shows 60 of them. Rows are distributed to buckets by the leading bits of their
//! numbers, and a bucket is sorted when one of its rows is requested.
//!
//! ```text
//! numbers    5000 3 5001 700 3 4999        in buckets    3 3 │ 700 │ 5000 5001 4999
//! row 4 is requested: its bucket is sorted               3 3 │ 700 │ 4999 5000 5001
//! ```
//!
//! Cost: two passes over the rows, and one sort per requested bucket. A bucket contains numbers with the same
//! [`LEADING_BITS`] leading bits; numbers below 2^11 have buckets of their own, whose rows are in order already.

use shared::analysis::AllocationId;

/// Number of leading bits that determine the bucket; numbers of a bucket differ by less than 1/1000.
const LEADING_BITS: u32 = 11;

/// Rows in the order of their numbers; rows with equal numbers keep their original order.
#[derive(Clone, Debug)]
pub(super) struct Order {
    rows: Vec<AllocationId>,
    is_rising: bool,
    /// End of each bucket that is not empty, and whether the bucket is sorted.
    buckets: Vec<(u32, bool)>,
}

impl Order {
    /// Distributes rows to buckets; `key` returns the number of a row.
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

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns a range of sorted rows, shortened to those that exist; `key` must be the one given to
    /// [`new`](Self::new).
    pub(super) fn window(&mut self, first: usize, count: usize, key: &dyn Fn(AllocationId) -> u64) -> &[AllocationId] {
        let first = first.min(self.rows.len());
        let wanted = first..first.saturating_add(count).min(self.rows.len());
        let from = self.buckets.partition_point(|&(end, _)| end as usize <= wanted.start);
        let mut start = from.checked_sub(1).map_or(0, |before| self.buckets[before].0 as usize);
        for (end, is_sorted) in &mut self.buckets[from..] {
            if start >= wanted.end {
                break;
            }
            if !std::mem::replace(is_sorted, true) {
                let is_rising = self.is_rising;
                let rank = |&id: &AllocationId| if is_rising { key(id) } else { u64::MAX - key(id) };
                self.rows[start..*end as usize].sort_by_key(rank);
            }
            start = *end as usize;
        }
        &self.rows[wanted]
    }
}

/// Returns the bucket of a number; numbers below 2^11 have buckets of their own.
fn bucket_of(key: u64) -> usize {
    let open_bits = (u64::BITS - key.leading_zeros()).saturating_sub(LEADING_BITS);
    ((open_bits as usize) << (LEADING_BITS - 1)) + (key >> open_bits) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns random numbers of up to 64, 12, 3 or 1 bits, the last two with many repetitions, or of very different
    /// magnitude.
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
                    assert_eq!(order.window(first, count, &key), &expected[range], "seed {seed}, {first} + {count}");
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
