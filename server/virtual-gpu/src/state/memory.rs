//! Tracks the memory of one device: the bytes in use and the addresses of allocations.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use foundation::allocator::{AddressOrder, AddressSpace, SLOT};

use crate::error::{Error, Result};

/// Size of the pages in which memory is allocated, in bytes.
pub(crate) const PAGE: u64 = 2 << 20;

const MIB: u64 = 1 << 20;

/// The area that a driver reserves at its start, in bytes: it loads kernels through the first part, which it hands out
/// later, and keeps what lies before the last part; the small gap between them is free, and so is the last part.
///
/// So were the addresses of a dozen programs on an H200 with driver 580 whose first memory was at most 20 MiB. After
/// whole slots, addresses went up; after other beginnings, the parts are taken in another order than that of addresses.
const AREA: u64 = 512 * MIB;
const LOADING: u64 = 414 * MIB;
const GAP: u64 = 2 * MIB;
const LAST: u64 = 24 * MIB;

/// True once no device needs its area for loading.
static IS_AREA_FREE: AtomicBool = AtomicBool::new(false);

pub(super) fn is_area_free() -> bool {
    IS_AREA_FREE.load(Ordering::Relaxed)
}

/// Lets devices that begin from now on hand out their area at once.
pub(super) fn free_area() {
    IS_AREA_FREE.store(true, Ordering::Relaxed);
}

/// The memory of a device.
///
/// `used_bytes` also counts memory that has no address here because it is mapped in the virtual memory.
#[derive(Debug)]
pub(crate) struct DeviceMemory {
    capacity_bytes: u64,
    used_bytes: u64,
    space: AddressSpace,
    order: AddressOrder,
    has_begun: bool,
    /// Start of the area through which kernels are loaded.
    loading: Option<u64>,
    uncounted: AddressSpace,
    allocations: BTreeMap<u64, u64>,
    /// Memory of other processes, which does not count here.
    opened: BTreeMap<u64, u64>,
}

/// Size of the uncounted part at the start of a device's address range, in bytes: 64 GiB.
const UNCOUNTED: u64 = 64 << 30;

impl DeviceMemory {
    /// Creates memory of `capacity_bytes`, with addresses from `start` to `end`.
    pub(crate) fn new(capacity_bytes: u64, start: u64, end: u64, order: AddressOrder) -> Self {
        let uncounted = AddressSpace::new(start, start + UNCOUNTED, AddressOrder::Ascending);
        let space = AddressSpace::new(start + UNCOUNTED, end, order);
        Self {
            capacity_bytes,
            used_bytes: 0,
            space,
            order,
            has_begun: false,
            loading: None,
            uncounted,
            allocations: BTreeMap::new(),
            opened: BTreeMap::new(),
        }
    }

    /// Reserves the driver's area before the first allocation.
    fn begin(&mut self, first: u64, is_loaded: bool) {
        self.has_begun = true;
        if first > 20 * MIB || self.order == AddressOrder::Ascending {
            if first.is_multiple_of(SLOT) {
                self.space.go_up();
            }
            return;
        }
        let Some(start) = self.space.take(AREA) else { return };
        self.space.give_back(start + LOADING, GAP);
        self.space.give_back(start + AREA - LAST, LAST);
        self.loading = Some(start);
        if is_loaded {
            self.end_loading();
        }
    }

    /// Hands out the addresses through which kernels were loaded.
    pub(super) fn end_loading(&mut self) {
        if let Some(start) = self.loading.take() {
            self.space.give_back(start, LOADING);
        }
    }

    pub(crate) fn free_bytes(&self) -> u64 {
        self.capacity_bytes - self.used_bytes
    }

    /// Takes whole pages of memory without an address, and returns their size.
    ///
    /// # Errors
    /// Returns "out of memory" if they do not fit.
    pub(crate) fn charge(&mut self, size_bytes: u64) -> Result<u64> {
        let pages = size_bytes.checked_next_multiple_of(PAGE).ok_or(Error::OutOfMemory)?;
        if pages > self.free_bytes() {
            return Err(Error::OutOfMemory);
        }
        self.used_bytes += pages;
        Ok(pages)
    }

    /// Gives back memory from [`charge`](Self::charge).
    pub(crate) fn refund(&mut self, pages_bytes: u64) {
        self.used_bytes -= pages_bytes;
    }

    /// Allocates memory and returns its address.
    ///
    /// # Errors
    /// Returns "out of memory" if the device has too little memory or addresses left.
    pub(crate) fn allocate(&mut self, size_bytes: u64) -> Result<u64> {
        let pages = self.charge(size_bytes)?;
        if !self.has_begun {
            self.begin(pages, is_area_free());
        }
        let Some(address) = self.space.take(pages) else {
            self.refund(pages);
            return Err(Error::OutOfMemory);
        };
        self.allocations.insert(address, pages);
        Ok(address)
    }

    /// Returns a page of addresses that does not count as used memory and is never freed.
    ///
    /// It is for the variables of device programs, whose memory is part of the context.
    ///
    /// # Errors
    /// Returns "out of memory" if no addresses are left.
    pub(crate) fn take_uncounted(&mut self) -> Result<u64> {
        self.uncounted.take(PAGE).ok_or(Error::OutOfMemory)
    }

    /// Frees an allocation by its address and returns its size.
    ///
    /// # Errors
    /// Returns "invalid value" if the address is not the start of an allocation.
    pub(crate) fn free(&mut self, address: u64) -> Result<u64> {
        let pages = self.allocations.remove(&address).ok_or(Error::InvalidValue)?;
        self.space.give_back(address, pages);
        self.refund(pages);
        Ok(pages)
    }

    /// Returns an address for memory of another process, which stays taken until [`close`](Self::close).
    ///
    /// # Errors
    /// Returns "invalid value" for no memory, and "out of memory" if no addresses are left.
    pub(crate) fn open(&mut self, size_bytes: u64) -> Result<u64> {
        let pages = size_bytes.checked_next_multiple_of(PAGE).filter(|pages| *pages > 0).ok_or(Error::InvalidValue)?;
        let address = self.space.take(pages).ok_or(Error::OutOfMemory)?;
        self.opened.insert(address, pages);
        Ok(address)
    }

    /// Gives back an address of [`open`](Self::open).
    ///
    /// # Errors
    /// Returns "invalid value" if the address is none.
    pub(crate) fn close(&mut self, address: u64) -> Result<()> {
        let pages = self.opened.remove(&address).ok_or(Error::InvalidValue)?;
        self.space.give_back(address, pages);
        Ok(())
    }

    /// Returns start and size of the allocation that holds an address.
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
    fn the_area_for_loading_is_handed_out_upwards_once_kernels_are_loaded() {
        let mut memory = DeviceMemory::new(4 << 30, 1 << 40, 2 << 40, AddressOrder::Descending);
        let at = |memory: &mut DeviceMemory, mib: u64| {
            (2_u64 << 40).wrapping_sub(memory.allocate(mib * MIB).expect("there is room")) / MIB
        };
        memory.begin(2 * MIB, false);
        assert_eq!([2, 20, 32].map(|mib| at(&mut memory, mib)), [512 - 414, 24, 512 + 32]);
        memory.end_loading();
        assert_eq!([32, 28, 20].map(|mib| at(&mut memory, mib)), [512, 480, 452]);
        let mut memory = DeviceMemory::new(4 << 30, 1 << 40, 2 << 40, AddressOrder::Descending);
        assert_eq!([64, 20, 2].map(|mib| at(&mut memory, mib)).map(|at| at < 900 << 10), [false; 3], "they go up");
        let mut memory = DeviceMemory::new(4 << 30, 1 << 40, 2 << 40, AddressOrder::Descending);
        assert_eq!([148, 20].map(|mib| at(&mut memory, mib)), [160, 192], "after other beginnings it is not known");
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
