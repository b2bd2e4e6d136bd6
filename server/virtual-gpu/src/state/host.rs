//! Pinned host memory: real memory, and what PyTorch has registered as pinned.
//!
//! Pages that nobody writes take no memory, and zeros from a device write none: what a model of any size leaves on the
//! host costs next to nothing.

use std::collections::BTreeMap;
use std::ffi::c_void;

use crate::error::{Error, Result};

/// One range of pinned memory.
#[derive(Debug, Clone, Copy)]
struct Range {
    size: usize,
    device: usize,
    /// Whether it was allocated here, rather than registered by the program.
    is_own: bool,
}

/// All pinned ranges, by address.
#[derive(Debug, Default)]
pub(crate) struct PinnedMemory {
    ranges: BTreeMap<usize, Range>,
}

impl PinnedMemory {
    /// Allocates pinned memory and gives its address; nothing of size 0 is null.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn allocate(&mut self, size: usize, device: usize) -> Result<usize> {
        if size == 0 {
            return Ok(0);
        }
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
        // SAFETY: a mapping that replaces none.
        let mapped = unsafe { libc::mmap(std::ptr::null_mut(), size, protection, flags, -1, 0) };
        if mapped == libc::MAP_FAILED {
            return Err(Error::OutOfMemory);
        }
        let address = mapped as usize;
        self.ranges.insert(address, Range { size, device, is_own: true });
        Ok(address)
    }

    /// Frees what [`allocate`](Self::allocate) gave.
    ///
    /// # Errors
    /// An address that was not given out is an invalid value.
    pub(crate) fn free(&mut self, address: usize) -> Result<()> {
        if address == 0 {
            return Ok(());
        }
        let size = self.ranges.get(&address).filter(|range| range.is_own).ok_or(Error::InvalidValue)?.size;
        self.ranges.remove(&address);
        // SAFETY: the address came from `mmap` with this size, and was still in the table.
        unsafe { libc::munmap(address as *mut c_void, size) };
        Ok(())
    }

    /// Marks a program's own memory as pinned.
    ///
    /// # Errors
    /// Memory that is pinned already, in whole or in part.
    pub(crate) fn register(&mut self, address: usize, size: usize, device: usize) -> Result<()> {
        if address == 0 || size == 0 {
            return Err(Error::InvalidValue);
        }
        let end = address.checked_add(size).ok_or(Error::InvalidValue)?;
        let before = self.ranges.range(..end).next_back();
        if before.is_some_and(|(start, range)| start + range.size > address) {
            return Err(Error::HostMemoryAlreadyRegistered);
        }
        self.ranges.insert(address, Range { size, device, is_own: false });
        Ok(())
    }

    /// Ends what [`register`](Self::register) began.
    ///
    /// # Errors
    /// Memory that was not registered.
    pub(crate) fn unregister(&mut self, address: usize) -> Result<()> {
        if self.ranges.get(&address).is_none_or(|range| range.is_own) {
            return Err(Error::HostMemoryNotRegistered);
        }
        self.ranges.remove(&address);
        Ok(())
    }

    /// Whether so many bytes at an address were allocated here.
    pub(crate) fn is_own(&self, address: usize, size: usize) -> bool {
        let before = self.ranges.range(..=address).next_back();
        before.is_some_and(|(start, range)| range.is_own && address - start + size <= range.size)
    }

    /// The device that was current when the memory at an address was pinned.
    pub(crate) fn device_of(&self, address: usize) -> Option<usize> {
        let (start, range) = self.ranges.range(..=address).next_back()?;
        (address - start < range.size).then_some(range.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_memory_is_real_and_aligned() {
        let mut pinned = PinnedMemory::default();
        let address = pinned.allocate(100, 1).expect("a hundred bytes");
        assert_eq!(address % 4096, 0);
        assert!(pinned.is_own(address + 50, 50) && !pinned.is_own(address + 50, 51));
        assert_eq!((pinned.device_of(address + 99), pinned.device_of(address + 100)), (Some(1), None));
        assert_eq!(pinned.free(address), Ok(()));
        assert_eq!(pinned.free(address), Err(Error::InvalidValue));
        assert_eq!(pinned.device_of(address), None);
    }

    #[test]
    fn registered_memory_must_not_overlap() {
        let mut pinned = PinnedMemory::default();
        assert_eq!(pinned.register(1000, 100, 0), Ok(()));
        assert!(!pinned.is_own(1000, 100));
        assert_eq!(pinned.register(1099, 10, 0), Err(Error::HostMemoryAlreadyRegistered));
        assert_eq!(pinned.register(990, 11, 0), Err(Error::HostMemoryAlreadyRegistered));
        assert_eq!(pinned.register(1100, 10, 0), Ok(()));
        assert_eq!(pinned.free(1000), Err(Error::InvalidValue));
        assert_eq!(pinned.unregister(1000), Ok(()));
        assert_eq!(pinned.unregister(1000), Err(Error::HostMemoryNotRegistered));
    }
}
