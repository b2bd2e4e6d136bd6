//! Pinned host memory: real memory, and what PyTorch has registered as pinned.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;

use crate::error::{Error, Result};

/// Alignment of pinned memory, in bytes: a page of the host.
const ALIGNMENT: usize = 4096;

/// One range of pinned memory.
#[derive(Debug, Clone, Copy)]
struct Range {
    size: usize,
    device: usize,
    /// The layout of memory that was allocated here; nothing where the program registered its own.
    layout: Option<Layout>,
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
        let layout = Layout::from_size_align(size, ALIGNMENT).map_err(|_| Error::OutOfMemory)?;
        // SAFETY: the layout has a size.
        let address = unsafe { alloc_zeroed(layout) } as usize;
        if address == 0 {
            return Err(Error::OutOfMemory);
        }
        self.ranges.insert(address, Range { size, device, layout: Some(layout) });
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
        let layout = self.ranges.get(&address).and_then(|range| range.layout).ok_or(Error::InvalidValue)?;
        self.ranges.remove(&address);
        // SAFETY: the address came from `alloc_zeroed` with this layout, and was still in the table.
        unsafe { dealloc(address as *mut u8, layout) };
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
        self.ranges.insert(address, Range { size, device, layout: None });
        Ok(())
    }

    /// Ends what [`register`](Self::register) began.
    ///
    /// # Errors
    /// Memory that was not registered.
    pub(crate) fn unregister(&mut self, address: usize) -> Result<()> {
        if self.ranges.get(&address).is_none_or(|range| range.layout.is_some()) {
            return Err(Error::HostMemoryNotRegistered);
        }
        self.ranges.remove(&address);
        Ok(())
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
        assert_eq!(address % ALIGNMENT, 0);
        assert_eq!((pinned.device_of(address + 99), pinned.device_of(address + 100)), (Some(1), None));
        assert_eq!(pinned.free(address), Ok(()));
        assert_eq!(pinned.free(address), Err(Error::InvalidValue));
        assert_eq!(pinned.device_of(address), None);
    }

    #[test]
    fn registered_memory_must_not_overlap() {
        let mut pinned = PinnedMemory::default();
        assert_eq!(pinned.register(1000, 100, 0), Ok(()));
        assert_eq!(pinned.register(1099, 10, 0), Err(Error::HostMemoryAlreadyRegistered));
        assert_eq!(pinned.register(990, 11, 0), Err(Error::HostMemoryAlreadyRegistered));
        assert_eq!(pinned.register(1100, 10, 0), Ok(()));
        assert_eq!(pinned.free(1000), Err(Error::InvalidValue));
        assert_eq!(pinned.unregister(1000), Ok(()));
        assert_eq!(pinned.unregister(1000), Err(Error::HostMemoryNotRegistered));
    }
}
