//! Hands out addresses from a range and takes them back, in the order in which drivers do.
//!
//! The caching allocator orders equal free blocks by address, so the order in which the driver hands addresses out
//! decides which of them is reused. Real drivers take slots of 32 MiB, most often downwards, and let later requests
//! fill the rest of a slot:
//!
//! ```text
//! descending, requests of 30, 2, 20, 40 and 10 MiB; addresses grow to the right
//!   [ 40 ............ | 24 free ][ 20 | 10 | 2 free ][ 30 | 2 ]
//! ```
//!
//! A request goes into the smallest hole that holds it, and among equal ones into the lowest. Cost: O(log holes).

use std::collections::{BTreeMap, BTreeSet};

/// Direction in which fresh addresses are handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressOrder {
    /// Each fresh allocation begins where the last one ended.
    Ascending,
    /// Fresh slots of 32 MiB go down; the rest of a slot becomes a hole.
    Descending,
}

/// Size of a slot in descending order, in bytes.
pub const SLOT: u64 = 32 << 20;

/// A range of addresses with holes.
#[derive(Debug)]
pub struct AddressSpace {
    order: AddressOrder,
    /// Range that was never handed out: (start, end).
    fresh: (u64, u64),
    /// Holes by address: start to size.
    holes: BTreeMap<u64, u64>,
    /// Holes by size: (size, start).
    by_size: BTreeSet<(u64, u64)>,
}

impl AddressSpace {
    /// Creates a space from `start` to `end`, all of it free.
    pub fn new(start: u64, end: u64, order: AddressOrder) -> Self {
        Self { order, fresh: (start, end), holes: BTreeMap::new(), by_size: BTreeSet::new() }
    }

    /// Hands out fresh addresses upwards from now on.
    pub fn go_up(&mut self) {
        self.order = AddressOrder::Ascending;
    }

    /// Hands out `size` bytes; returns `None` if no range is large enough.
    pub fn take(&mut self, size: u64) -> Option<u64> {
        let hole = self.by_size.range((size, 0)..).next().copied();
        let (held, start) = match hole {
            Some(hole) => hole,
            None => self.take_fresh(size)?,
        };
        self.remove_hole(start, held);
        self.add_hole(start + size, held - size);
        Some(start)
    }

    /// Takes back a range that [`take`](Self::take) returned.
    pub fn give_back(&mut self, start: u64, size: u64) {
        let (mut start, mut size) = (start, size);
        if let Some((&before, &held)) = self.holes.range(..start).next_back()
            && before + held == start
        {
            self.remove_hole(before, held);
            (start, size) = (before, size + held);
        }
        if let Some(&held) = self.holes.get(&(start + size)) {
            self.remove_hole(start + size, held);
            size += held;
        }
        self.add_hole(start, size);
    }

    /// Takes a range that was never handed out, as (size, start); in descending order in whole slots.
    fn take_fresh(&mut self, size: u64) -> Option<(u64, u64)> {
        let (start, end) = self.fresh;
        match self.order {
            AddressOrder::Ascending => {
                let next = start.checked_add(size).filter(|&next| next <= end)?;
                self.fresh.0 = next;
                Some((size, start))
            }
            AddressOrder::Descending => {
                let held = size.checked_next_multiple_of(SLOT)?;
                let next = end.checked_sub(held).filter(|&next| next >= start)?;
                self.fresh.1 = next;
                Some((held, next))
            }
        }
    }

    fn add_hole(&mut self, start: u64, size: u64) {
        if size > 0 {
            self.holes.insert(start, size);
            self.by_size.insert((size, start));
        }
    }

    fn remove_hole(&mut self, start: u64, size: u64) {
        self.holes.remove(&start);
        self.by_size.remove(&(size, start));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn takes(order: AddressOrder, sizes: &[u64]) -> Vec<u64> {
        let mut space = AddressSpace::new(0, 256 * MIB, order);
        sizes.iter().map(|size| space.take(size * MIB).expect("there is room") / MIB).collect()
    }

    #[test]
    fn addresses_follow_the_order() {
        // Ascending addresses follow each other.
        assert_eq!(takes(AddressOrder::Ascending, &[2, 20, 40, 2]), [0, 2, 22, 62]);
        // Descending slots are filled before the next.
        assert_eq!(takes(AddressOrder::Descending, &[30, 2, 20, 40, 10]), [224, 254, 192, 128, 212]);
    }

    #[test]
    fn a_freed_range_is_reused_and_neighbours_join() {
        let mut space = AddressSpace::new(0, 100, AddressOrder::Ascending);
        let starts: Vec<_> = (0..4).map(|_| space.take(25).expect("there is room")).collect();
        assert_eq!(space.take(1), None);
        for start in [starts[0], starts[2], starts[1]] {
            space.give_back(start, 25);
        }
        assert_eq!(space.take(75), Some(0));
        assert_eq!(space.take(1), None);
    }

    #[test]
    fn the_smallest_hole_is_taken() {
        let mut space = AddressSpace::new(0, 100, AddressOrder::Ascending);
        let starts: Vec<_> = [30, 5, 10, 5, 50].map(|size| space.take(size).expect("there is room")).into();
        space.give_back(starts[0], 30);
        space.give_back(starts[2], 10);
        assert_eq!(space.take(8), Some(35));
    }

    #[test]
    fn a_size_beyond_all_numbers_is_refused() {
        for order in [AddressOrder::Ascending, AddressOrder::Descending] {
            assert_eq!(AddressSpace::new(MIB, 2 * MIB, order).take(u64::MAX), None);
        }
    }
}
