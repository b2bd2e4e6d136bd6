//! What stands below the allocator: a card that gives memory until it is full.

use std::ops::Range;

use super::address_space::{AddressOrder, AddressSpace};
use super::rounding;

/// The calls that the allocator makes to the card.
pub trait Driver {
    /// The card's memory in bytes, as its properties name it.
    fn total_bytes(&self) -> u64;

    /// What is left of it in bytes.
    fn free_bytes(&self) -> u64;

    /// `cudaMalloc`: the address of new memory, nothing where the card is full.
    fn malloc(&mut self, size_bytes: u64) -> Option<u64>;

    /// `cudaFree`.
    fn free(&mut self, addr: u64, size_bytes: u64);

    /// `cuMemAddressReserve`: the address of a range without memory.
    fn reserve(&mut self, size_bytes: u64) -> u64;

    /// `cuMemAddressFree`.
    fn unreserve(&mut self, addr: u64, size_bytes: u64);

    /// `cuMemCreate` and `cuMemMap` of a range in pieces of `unit_bytes`: false, and nothing mapped, where the card is full.
    fn map(&mut self, addr: u64, size_bytes: u64, unit_bytes: u64) -> bool;

    /// `cuMemUnmap` and `cuMemRelease` of a range in pieces of `unit_bytes`.
    fn unmap(&mut self, addr: u64, size_bytes: u64, unit_bytes: u64);
}

/// Memory is taken in pages of this size, 2 MiB.
const PAGE: u64 = 2 << 20;
/// Where the addresses of memory begin and end.
const MEMORY: (u64, u64) = (1 << 46, (1 << 46) + (1 << 43));
/// Where the addresses of reservations begin and end.
const RESERVATIONS: (u64, u64) = (1 << 45, 1 << 46);

/// New memory lies in slots of this size, 32 MiB.
const SLOT: u64 = 32 << 20;
/// No address of a card lies behind this one: whatever is laid down ends here or before, so that sums of addresses and
/// sizes stay within 64 bits.
pub const LAST_ADDR: u64 = 1 << 62;

/// A card that counts: it is full when its capacity is taken.
///
/// Addresses go as the virtual GPU's do, which is how most drivers do: slots of 32 MiB downwards.
#[derive(Debug)]
pub struct VirtualCard {
    total_bytes: u64,
    free_bytes: u64,
    memory: AddressSpace,
    reservations: AddressSpace,
    first_reservation: u64,
}

impl VirtualCard {
    /// A card of `total_bytes`, of which `usable_bytes` are left to the allocator.
    ///
    /// The difference is what the context and other libraries take.
    pub fn new(total_bytes: u64, usable_bytes: u64) -> Self {
        Self::with_addresses(total_bytes, usable_bytes, MEMORY, RESERVATIONS)
    }

    /// The same, with addresses below and above a range that segments lie in already.
    ///
    /// Where there is not enough room beside it, addresses are those of an empty card.
    pub fn beside(total_bytes: u64, usable_bytes: u64, taken: Range<u64>) -> Self {
        let total_bytes = total_bytes.min(rounding::MOST_BYTES);
        let end = taken.start / SLOT * SLOT;
        let start = taken.end.saturating_add(2 * total_bytes).checked_next_multiple_of(SLOT).unwrap_or(u64::MAX);
        let (memory, reservations) = (MEMORY.1 - MEMORY.0, RESERVATIONS.1 - RESERVATIONS.0);
        if taken.is_empty() || end <= memory || start > LAST_ADDR - reservations {
            return Self::new(total_bytes, usable_bytes);
        }
        Self::with_addresses(total_bytes, usable_bytes, (end - memory, end), (start, start + reservations))
    }

    fn with_addresses(total_bytes: u64, usable_bytes: u64, memory: (u64, u64), reservations: (u64, u64)) -> Self {
        let total_bytes = total_bytes.min(rounding::MOST_BYTES);
        Self {
            total_bytes,
            free_bytes: usable_bytes.min(total_bytes),
            memory: AddressSpace::new(memory.0, memory.1, AddressOrder::Descending),
            reservations: AddressSpace::new(reservations.0, reservations.1, AddressOrder::Ascending),
            first_reservation: reservations.0,
        }
    }

    fn charge(&mut self, size_bytes: u64) -> bool {
        let left = self.free_bytes.checked_sub(size_bytes);
        self.free_bytes = left.unwrap_or(self.free_bytes);
        left.is_some()
    }
}

/// What pieces of a size take of the card together, in whole pages each.
fn pages_bytes(size_bytes: u64, unit_bytes: u64) -> u64 {
    size_bytes / unit_bytes * unit_bytes.next_multiple_of(PAGE)
}

impl Driver for VirtualCard {
    fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    fn free_bytes(&self) -> u64 {
        self.free_bytes
    }

    fn malloc(&mut self, size_bytes: u64) -> Option<u64> {
        let pages = size_bytes.next_multiple_of(PAGE);
        if !self.charge(pages) {
            return None;
        }
        let addr = self.memory.take(pages);
        if addr.is_none() {
            self.free_bytes += pages;
        }
        addr
    }

    fn free(&mut self, addr: u64, size_bytes: u64) {
        let pages = size_bytes.next_multiple_of(PAGE);
        self.memory.give_back(addr, pages);
        self.free_bytes += pages;
    }

    fn reserve(&mut self, size_bytes: u64) -> u64 {
        // Addresses without memory cost nothing: where the range is used up, it is used a second time.
        self.reservations.take(size_bytes.next_multiple_of(PAGE)).unwrap_or(self.first_reservation)
    }

    fn unreserve(&mut self, addr: u64, size_bytes: u64) {
        self.reservations.give_back(addr, size_bytes.next_multiple_of(PAGE));
    }

    fn map(&mut self, _: u64, size_bytes: u64, unit_bytes: u64) -> bool {
        self.charge(pages_bytes(size_bytes, unit_bytes))
    }

    fn unmap(&mut self, _: u64, size_bytes: u64, unit_bytes: u64) {
        self.free_bytes += pages_bytes(size_bytes, unit_bytes);
    }
}
