//! The driver below the allocator: a device that hands out memory until it is full.

use std::ops::Range;

use super::address_space::{AddressOrder, AddressSpace};
use super::rounding;

/// Calls that the allocator makes to the CUDA driver.
pub trait Driver {
    /// Returns the device's memory in bytes, as its properties report it.
    fn total_bytes(&self) -> u64;

    fn free_bytes(&self) -> u64;

    /// `cudaMalloc`: returns the address of new memory, `None` if the device is full.
    fn malloc(&mut self, size_bytes: u64) -> Option<u64>;

    /// `cudaFree`.
    fn free(&mut self, addr: u64, size_bytes: u64);

    /// `cuMemAddressReserve`: returns the address of a range without memory.
    fn reserve(&mut self, size_bytes: u64) -> u64;

    /// `cuMemAddressFree`.
    fn unreserve(&mut self, addr: u64, size_bytes: u64);

    /// `cuMemCreate` and `cuMemMap` of a range in pieces of `unit_bytes`.
    ///
    /// Returns false, with nothing mapped, if the device is full.
    fn map(&mut self, addr: u64, size_bytes: u64, unit_bytes: u64) -> bool;

    /// `cuMemUnmap` and `cuMemRelease` of a range in pieces of `unit_bytes`.
    fn unmap(&mut self, addr: u64, size_bytes: u64, unit_bytes: u64);
}

/// Unit in which the device hands out memory, 2 MiB.
const PAGE: u64 = 2 << 20;
/// Range of the addresses of `cudaMalloc`.
const MEMORY: (u64, u64) = (1 << 46, (1 << 46) + (1 << 43));
/// Range of the addresses of reservations.
const RESERVATIONS: (u64, u64) = (1 << 45, 1 << 46);

/// Size of the slots that hold new memory, 32 MiB.
const SLOT: u64 = 32 << 20;
/// Highest address at which anything may end, so that sums of addresses and sizes stay within 64 bits.
pub const LAST_ADDR: u64 = 1 << 62;

/// Model of a device that only counts bytes: it is full when its capacity is taken.
///
/// Addresses are those of the virtual GPU, which does as most drivers do: slots of 32 MiB, downwards.
#[derive(Debug)]
pub struct VirtualCard {
    total_bytes: u64,
    free_bytes: u64,
    memory: AddressSpace,
    reservations: AddressSpace,
    first_reservation: u64,
}

impl VirtualCard {
    /// Creates a device of `total_bytes`, of which `usable_bytes` are left to the allocator.
    ///
    /// The CUDA context and other libraries take the difference.
    pub fn new(total_bytes: u64, usable_bytes: u64) -> Self {
        Self::with_addresses(total_bytes, usable_bytes, MEMORY, RESERVATIONS)
    }

    /// Does the same as [`new`](Self::new), but keeps all addresses outside of `taken`, where segments lie already.
    ///
    /// New memory lies below that range and reservations above it; without enough room there, the addresses are those
    /// of `new`.
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

/// Returns the bytes that `size_bytes` in pieces of `unit_bytes` take on the device, each piece in whole pages.
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
        // Addresses without memory cost nothing, so an exhausted range starts again at its beginning.
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
