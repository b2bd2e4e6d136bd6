//! Allocates pinned and managed host memory, which is real, and tracks memory that programs register as pinned.
//!
//! Pages that are never written take no memory, and large copies of zeros from a device write none, so the pinned
//! buffers of a model of any size cost next to nothing.

use std::collections::BTreeMap;
use std::ffi::c_void;

use crate::error::{Error, Result};

/// A range of pinned memory.
#[derive(Debug, Clone, Copy)]
struct Range {
    size: usize,
    device: usize,
    kind: Kind,
}

/// Where a range comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pinned,
    /// Managed memory stays on the host, where a GPU that is full leaves it.
    Managed,
    /// The program's own memory.
    Registered,
}

/// All pinned ranges, by start address.
#[derive(Debug, Default)]
pub(crate) struct PinnedMemory {
    ranges: BTreeMap<usize, Range>,
}

impl PinnedMemory {
    /// Allocates pinned memory and returns its address, which is null for a size of 0.
    ///
    /// # Errors
    /// Returns "out of memory" if the host has no room.
    pub(crate) fn allocate(&mut self, size: usize, device: usize) -> Result<usize> {
        self.map(size, device, Kind::Pinned)
    }

    /// Allocates managed memory, as [`allocate`](Self::allocate) does pinned memory.
    ///
    /// # Errors
    /// Returns "out of memory" if the host has no room.
    pub(crate) fn allocate_managed(&mut self, size: usize, device: usize) -> Result<usize> {
        self.map(size, device, Kind::Managed)
    }

    fn map(&mut self, size: usize, device: usize, kind: Kind) -> Result<usize> {
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
        self.ranges.insert(address, Range { size, device, kind });
        Ok(address)
    }

    /// Frees memory from [`allocate`](Self::allocate); null is allowed.
    ///
    /// # Errors
    /// Returns "invalid value" if the address is not the start of such memory.
    pub(crate) fn free(&mut self, address: usize) -> Result<()> {
        self.unmap(address, Kind::Pinned)
    }

    /// Frees memory from [`allocate_managed`](Self::allocate_managed); null is allowed.
    ///
    /// # Errors
    /// Returns "invalid value" if the address is not the start of such memory.
    pub(crate) fn free_managed(&mut self, address: usize) -> Result<()> {
        self.unmap(address, Kind::Managed)
    }

    fn unmap(&mut self, address: usize, kind: Kind) -> Result<()> {
        if address == 0 {
            return Ok(());
        }
        let size = self.ranges.get(&address).filter(|range| range.kind == kind).ok_or(Error::InvalidValue)?.size;
        self.ranges.remove(&address);
        // SAFETY: the address came from `mmap` with this size, and was still in the table.
        unsafe { libc::munmap(address as *mut c_void, size) };
        Ok(())
    }

    /// Marks a program's own memory as pinned.
    ///
    /// # Errors
    /// Returns an error if the range is null, empty or overflows, or if part of it is pinned already.
    pub(crate) fn register(&mut self, address: usize, size: usize, device: usize) -> Result<()> {
        if address == 0 || size == 0 {
            return Err(Error::InvalidValue);
        }
        let end = address.checked_add(size).ok_or(Error::InvalidValue)?;
        let before = self.ranges.range(..end).next_back();
        if before.is_some_and(|(start, range)| start + range.size > address) {
            return Err(Error::HostMemoryAlreadyRegistered);
        }
        self.ranges.insert(address, Range { size, device, kind: Kind::Registered });
        Ok(())
    }

    /// Undoes [`register`](Self::register).
    ///
    /// # Errors
    /// Returns an error if no registered range begins at the address.
    pub(crate) fn unregister(&mut self, address: usize) -> Result<()> {
        if self.ranges.get(&address).is_none_or(|range| range.kind != Kind::Registered) {
            return Err(Error::HostMemoryNotRegistered);
        }
        self.ranges.remove(&address);
        Ok(())
    }

    /// Returns true if the `size` bytes at an address lie in one range that was allocated here.
    pub(crate) fn is_own(&self, address: usize, size: usize) -> bool {
        let before = self.ranges.range(..=address).next_back();
        before.is_some_and(|(start, range)| range.kind != Kind::Registered && address - start + size <= range.size)
    }

    /// Returns true if an address is one of managed memory.
    pub(crate) fn is_managed(&self, address: usize) -> bool {
        let before = self.ranges.range(..=address).next_back();
        before.is_some_and(|(start, range)| range.kind == Kind::Managed && address - start < range.size)
    }

    /// Returns the device that was current when memory was pinned; `None` if the address is not pinned.
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
    fn managed_memory_is_freed_as_such() {
        let mut pinned = PinnedMemory::default();
        let address = pinned.allocate_managed(100, 0).expect("a hundred bytes");
        assert!(pinned.is_managed(address + 99) && !pinned.is_managed(address + 100));
        assert_eq!(
            (pinned.free(address), pinned.unregister(address)),
            (Err(Error::InvalidValue), Err(Error::HostMemoryNotRegistered))
        );
        assert_eq!(pinned.free_managed(address), Ok(()));
        assert!(!pinned.is_managed(address));
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
