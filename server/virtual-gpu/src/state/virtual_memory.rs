//! Models virtual memory management: reserving addresses, creating memory and mapping it to the addresses.
//!
//! PyTorch's expandable segments use it. Memory counts against its device from its creation until it is released and
//! no longer mapped.

use std::collections::BTreeMap;

use foundation::allocator::{AddressOrder, AddressSpace};

use super::backing::VIRTUAL_RANGE;
use super::memory::PAGE;
use crate::error::{Error, Result};

/// Memory that was created, with the numbers of handle references and of mappings that keep it.
#[derive(Debug, Clone, Copy)]
struct Memory {
    device: usize,
    size_bytes: u64,
    references: u32,
    mappings: u32,
}

/// A range of addresses with memory mapped to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mapping {
    pub(crate) start: u64,
    pub(crate) size_bytes: u64,
    pub(crate) handle: u64,
    /// Ordinal of the memory's device.
    pub(crate) device: usize,
}

/// Memory without references and mappings, which has to be returned to its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Returned {
    pub(crate) device: usize,
    pub(crate) size_bytes: u64,
}

/// The reserved addresses, the memory and the mappings of the process.
#[derive(Debug)]
pub(crate) struct VirtualMemory {
    space: AddressSpace,
    reservations: BTreeMap<u64, u64>,
    memory: BTreeMap<u64, Memory>,
    next_handle: u64,
    mappings: BTreeMap<u64, Mapping>,
}

impl VirtualMemory {
    pub(crate) fn new() -> Self {
        let (start, end) = VIRTUAL_RANGE;
        Self {
            space: AddressSpace::new(start, end, AddressOrder::Ascending),
            reservations: BTreeMap::new(),
            memory: BTreeMap::new(),
            next_handle: 1,
            mappings: BTreeMap::new(),
        }
    }

    /// Reserves addresses and returns the first.
    ///
    /// # Errors
    /// Returns "invalid value" for a size that is not a positive number of pages, and "out of memory" without room.
    pub(crate) fn reserve(&mut self, size_bytes: u64) -> Result<u64> {
        check_pages(size_bytes)?;
        let start = self.space.take(size_bytes).ok_or(Error::OutOfMemory)?;
        self.reservations.insert(start, size_bytes);
        Ok(start)
    }

    /// Gives back a whole reservation, to which nothing may be mapped.
    pub(crate) fn unreserve(&mut self, start: u64, size_bytes: u64) -> Result<()> {
        let is_mapped = self.mappings.range(start..start.saturating_add(size_bytes)).next().is_some();
        if self.reservations.get(&start) != Some(&size_bytes) || is_mapped {
            return Err(Error::InvalidValue);
        }
        self.reservations.remove(&start);
        self.space.give_back(start, size_bytes);
        Ok(())
    }

    /// Registers memory that the caller has charged to its device, and returns a handle with one reference.
    pub(crate) fn create(&mut self, device: usize, size_bytes: u64) -> u64 {
        let handle = self.next_handle;
        self.next_handle += 1;
        self.memory.insert(handle, Memory { device, size_bytes, references: 1, mappings: 0 });
        handle
    }

    /// Releases one reference to memory; returns the memory if nothing uses it any more.
    pub(crate) fn release(&mut self, handle: u64) -> Result<Option<Returned>> {
        let memory = self.memory.get_mut(&handle).filter(|memory| memory.references > 0).ok_or(Error::InvalidValue)?;
        memory.references -= 1;
        Ok(self.return_if_unused(handle))
    }

    /// Adds a reference to the memory that is mapped at an address, and returns its handle.
    pub(crate) fn retain(&mut self, address: u64) -> Result<u64> {
        let handle = self.find(address).ok_or(Error::InvalidValue)?.handle;
        self.memory.get_mut(&handle).ok_or(Error::InvalidValue)?.references += 1;
        Ok(handle)
    }

    /// Returns device and size of the memory of a handle.
    pub(crate) fn properties(&self, handle: u64) -> Result<(usize, u64)> {
        self.memory.get(&handle).map(|memory| (memory.device, memory.size_bytes)).ok_or(Error::InvalidValue)
    }

    /// Maps the whole memory of a handle to reserved addresses that have no mapping yet.
    pub(crate) fn map(&mut self, start: u64, size_bytes: u64, handle: u64) -> Result<()> {
        check_pages(size_bytes)?;
        let end = start.checked_add(size_bytes).ok_or(Error::InvalidValue)?;
        let (&reserved, &length) = self.reservations.range(..=start).next_back().ok_or(Error::InvalidValue)?;
        let before = self.mappings.range(..end).next_back();
        let is_taken = before.is_some_and(|(_, mapping)| mapping.start + mapping.size_bytes > start);
        if end > reserved + length || is_taken {
            return Err(Error::InvalidValue);
        }
        let memory = self.memory.get_mut(&handle).filter(|memory| memory.size_bytes == size_bytes);
        let memory = memory.ok_or(Error::InvalidValue)?;
        memory.mappings += 1;
        self.mappings.insert(start, Mapping { start, size_bytes, handle, device: memory.device });
        Ok(())
    }

    /// Removes the mappings in a range, which has to consist of whole mappings; returns memory that is no longer used.
    pub(crate) fn unmap(&mut self, start: u64, size_bytes: u64) -> Result<Vec<Returned>> {
        let end = start.checked_add(size_bytes).ok_or(Error::InvalidValue)?;
        let inside: Vec<_> = self.mappings.range(start..end).map(|(_, mapping)| *mapping).collect();
        if inside.iter().map(|mapping| mapping.size_bytes).sum::<u64>() != size_bytes {
            return Err(Error::InvalidValue);
        }
        let mut returned = Vec::new();
        for mapping in inside {
            self.mappings.remove(&mapping.start);
            if let Some(memory) = self.memory.get_mut(&mapping.handle) {
                memory.mappings -= 1;
            }
            returned.extend(self.return_if_unused(mapping.handle));
        }
        Ok(returned)
    }

    pub(crate) fn find(&self, address: u64) -> Option<Mapping> {
        let (_, mapping) = self.mappings.range(..=address).next_back()?;
        (address - mapping.start < mapping.size_bytes).then_some(*mapping)
    }

    fn return_if_unused(&mut self, handle: u64) -> Option<Returned> {
        let memory = self.memory.get(&handle).filter(|memory| memory.references == 0 && memory.mappings == 0)?;
        let returned = Returned { device: memory.device, size_bytes: memory.size_bytes };
        self.memory.remove(&handle);
        Some(returned)
    }
}

fn check_pages(size_bytes: u64) -> Result<()> {
    if size_bytes > 0 && size_bytes.is_multiple_of(PAGE) { Ok(()) } else { Err(Error::InvalidValue) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_returns_when_it_is_released_and_unmapped() {
        let mut memory = VirtualMemory::new();
        let start = memory.reserve(4 * PAGE).expect("there is room");
        let handle = memory.create(1, PAGE);
        assert_eq!(memory.map(start + PAGE, PAGE, handle), Ok(()));
        assert_eq!(memory.find(start + 2 * PAGE - 1).map(|mapping| mapping.device), Some(1));
        assert!(memory.find(start).is_none());
        assert_eq!(memory.release(handle), Ok(None));
        assert_eq!(memory.unreserve(start, 4 * PAGE), Err(Error::InvalidValue), "it is still mapped");
        assert_eq!(memory.unmap(start + PAGE, PAGE), Ok(vec![Returned { device: 1, size_bytes: PAGE }]));
        assert_eq!(memory.unreserve(start, 4 * PAGE), Ok(()));
        assert_eq!(memory.release(handle), Err(Error::InvalidValue));
    }

    #[test]
    fn memory_that_is_still_held_stays() {
        let mut memory = VirtualMemory::new();
        let start = memory.reserve(PAGE).expect("there is room");
        let handle = memory.create(0, PAGE);
        memory.map(start, PAGE, handle).expect("the range is empty");
        assert_eq!(memory.retain(start), Ok(handle));
        assert_eq!(memory.unmap(start, PAGE), Ok(vec![]));
        assert_eq!(memory.release(handle), Ok(None));
        assert_eq!(memory.release(handle), Ok(Some(Returned { device: 0, size_bytes: PAGE })));
    }

    #[test]
    fn a_mapping_needs_empty_reserved_addresses_and_all_of_its_memory() {
        let mut memory = VirtualMemory::new();
        let start = memory.reserve(2 * PAGE).expect("there is room");
        let (one, two) = (memory.create(0, PAGE), memory.create(0, 2 * PAGE));
        assert_eq!(memory.map(start, PAGE, two), Err(Error::InvalidValue));
        assert_eq!(memory.map(start + PAGE, 2 * PAGE, two), Err(Error::InvalidValue));
        assert_eq!(memory.map(start + PAGE, PAGE, one), Ok(()));
        assert_eq!(memory.map(start, 2 * PAGE, two), Err(Error::InvalidValue));
        assert_eq!(memory.unmap(start, 2 * PAGE), Err(Error::InvalidValue));
        assert_eq!(memory.reserve(PAGE + 1), Err(Error::InvalidValue));
    }
}
