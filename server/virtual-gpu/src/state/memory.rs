//! The memory of one device: how much is taken, and where allocations lie.

use std::collections::BTreeMap;

use shared::allocator::{AddressOrder, AddressSpace};

use crate::error::{Error, Result};

/// Memory is taken in pages of this size, in bytes.
pub(crate) const PAGE: u64 = 2 << 20;

/// A device's memory: its allocations, and what is counted here but lies at addresses of virtual memory.
#[derive(Debug)]
pub(crate) struct DeviceMemory {
    capacity_bytes: u64,
    used_bytes: u64,
    space: AddressSpace,
    uncounted: AddressSpace,
    allocations: BTreeMap<u64, u64>,
}

/// Addresses at the start of a device's range for what is not counted, in bytes: 64 GiB.
const UNCOUNTED: u64 = 64 << 30;

impl DeviceMemory {
    /// Memory of `capacity_bytes`, with addresses from `start` to `end`.
    pub(crate) fn new(capacity_bytes: u64, start: u64, end: u64, order: AddressOrder) -> Self {
        let uncounted = AddressSpace::new(start, start + UNCOUNTED, AddressOrder::Ascending);
        let space = AddressSpace::new(start + UNCOUNTED, end, order);
        Self { capacity_bytes, used_bytes: 0, space, uncounted, allocations: BTreeMap::new() }
    }

    /// What is not taken, in bytes.
    pub(crate) fn free_bytes(&self) -> u64 {
        self.capacity_bytes - self.used_bytes
    }

    /// Takes memory without an address; whole pages.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn charge(&mut self, size_bytes: u64) -> Result<u64> {
        let pages = size_bytes.checked_next_multiple_of(PAGE).ok_or(Error::OutOfMemory)?;
        if pages > self.free_bytes() {
            return Err(Error::OutOfMemory);
        }
        self.used_bytes += pages;
        Ok(pages)
    }

    /// Returns what [`charge`](Self::charge) took.
    pub(crate) fn refund(&mut self, pages_bytes: u64) {
        self.used_bytes -= pages_bytes;
    }

    /// Allocates memory and gives its address.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn allocate(&mut self, size_bytes: u64) -> Result<u64> {
        let pages = self.charge(size_bytes)?;
        let Some(address) = self.space.take(pages) else {
            self.refund(pages);
            return Err(Error::OutOfMemory);
        };
        self.allocations.insert(address, pages);
        Ok(address)
    }

    /// Gives a page of addresses that is not counted: what a program's own variables lie in, which comes with the
    /// context. It is never freed.
    ///
    /// # Errors
    /// No addresses are left.
    pub(crate) fn take_uncounted(&mut self) -> Result<u64> {
        self.uncounted.take(PAGE).ok_or(Error::OutOfMemory)
    }

    /// Frees an allocation by its address, and says how large it was.
    ///
    /// # Errors
    /// An address that was not given out is an invalid value.
    pub(crate) fn free(&mut self, address: u64) -> Result<u64> {
        let pages = self.allocations.remove(&address).ok_or(Error::InvalidValue)?;
        self.space.give_back(address, pages);
        self.refund(pages);
        Ok(pages)
    }

    /// The allocation that an address lies in: start and size.
    pub(crate) fn find(&self, address: u64) -> Option<(u64, u64)> {
        let (&start, &size) = self.allocations.range(..=address).next_back()?;
        (address - start < size).then_some((start, size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(capacity_bytes: u64) -> DeviceMemory {
        DeviceMemory::new(capacity_bytes, 1 << 40, 2 << 40, AddressOrder::Ascending)
    }

    #[test]
    fn the_last_page_fits_and_one_byte_more_does_not() {
        let mut memory = memory(10 * PAGE);
        memory.allocate(9 * PAGE).expect("nine of ten pages");
        assert_eq!(memory.free_bytes(), PAGE);
        assert_eq!(memory.allocate(PAGE + 1), Err(Error::OutOfMemory));
        memory.allocate(PAGE).expect("the tenth page");
        assert_eq!(memory.free_bytes(), 0);
        assert_eq!(memory.allocate(1), Err(Error::OutOfMemory));
    }

    #[test]
    fn a_capacity_between_pages_is_kept_to_the_byte() {
        let mut memory = memory(2 * PAGE + 5);
        memory.allocate(2 * PAGE).expect("two pages");
        assert_eq!(memory.free_bytes(), 5);
        assert_eq!(memory.allocate(5), Err(Error::OutOfMemory));
    }

    #[test]
    fn freed_memory_comes_back_at_the_same_address() {
        let mut memory = memory(4 * PAGE);
        let first = memory.allocate(3).expect("a page");
        let second = memory.allocate(PAGE).expect("a page");
        assert_eq!(second, first + PAGE);
        assert_eq!(memory.free(first), Ok(PAGE));
        assert_eq!(memory.free(first), Err(Error::InvalidValue));
        assert_eq!(memory.allocate(1), Ok(first));
        assert_eq!(memory.free_bytes(), 2 * PAGE);
    }

    #[test]
    fn an_address_inside_finds_its_allocation() {
        let mut memory = memory(4 * PAGE);
        let start = memory.allocate(PAGE + 1).expect("two pages");
        assert_eq!(memory.find(start + 2 * PAGE - 1), Some((start, 2 * PAGE)));
        assert_eq!(memory.find(start + 2 * PAGE), None);
        assert_eq!(memory.find(start - 1), None);
    }

    #[test]
    fn sizes_beyond_all_numbers_are_refused() {
        assert_eq!(memory(u64::MAX / 2).allocate(u64::MAX), Err(Error::OutOfMemory));
    }
}
