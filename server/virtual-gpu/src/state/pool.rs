//! Models the stream-ordered memory pools from which `cudaMallocAsync` allocates.
//!
//! A pool takes chunks of 32 MiB or a multiple from its device, cuts allocations out of them, and keeps freed memory up
//! to its release threshold. The order of streams is ignored: a freed range can be reused at once.

use std::collections::BTreeMap;

use foundation::allocator::{AddressOrder, AddressSpace};

use super::memory::DeviceMemory;
use crate::error::{Error, Result};

/// Unit of chunk sizes, in bytes.
const CHUNK: u64 = 32 << 20;

/// Unit of allocation sizes, in bytes.
const ALIGNMENT: u64 = 512;

#[derive(Debug)]
struct Chunk {
    size_bytes: u64,
    used_bytes: u64,
    space: AddressSpace,
}

/// A memory pool of one device.
#[derive(Debug)]
pub(crate) struct Pool {
    /// Reserved memory that a pool may keep when a device or a stream is synchronized, in bytes.
    pub(crate) release_threshold_bytes: u64,
    chunks: BTreeMap<u64, Chunk>,
    allocations: BTreeMap<u64, u64>,
    /// Bytes taken from the device.
    pub(crate) reserved: HighWater,
    /// Bytes in allocations.
    pub(crate) used: HighWater,
}

/// A number of bytes with its high-water mark.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HighWater {
    pub(crate) current: u64,
    /// Highest value since the mark was last reset.
    pub(crate) high: u64,
}

impl HighWater {
    fn add(&mut self, bytes: u64) {
        self.current += bytes;
        self.high = self.high.max(self.current);
    }
}

impl Pool {
    /// Creates an empty pool with a release threshold of 0.
    pub(crate) fn new() -> Self {
        Self {
            release_threshold_bytes: 0,
            chunks: BTreeMap::new(),
            allocations: BTreeMap::new(),
            reserved: HighWater::default(),
            used: HighWater::default(),
        }
    }

    /// Allocates from a chunk with room, or from a new one.
    ///
    /// # Errors
    /// Returns "out of memory" if a new chunk does not fit into the device.
    pub(crate) fn allocate(&mut self, size_bytes: u64, memory: &mut DeviceMemory) -> Result<u64> {
        let size = size_bytes.max(1).checked_next_multiple_of(ALIGNMENT).ok_or(Error::OutOfMemory)?;
        let place = self.chunks.iter_mut().find_map(|(&start, chunk)| Some((start, chunk.space.take(size)?)));
        let (start, address) = match place {
            Some(place) => place,
            None => self.grow(size, memory)?,
        };
        self.allocations.insert(address, size);
        self.used.add(size);
        if let Some(chunk) = self.chunks.get_mut(&start) {
            chunk.used_bytes += size;
        }
        Ok(address)
    }

    /// Frees an allocation of this pool; returns `None` if the address is not from this pool.
    pub(crate) fn free(&mut self, address: u64) -> Option<()> {
        let size = self.allocations.remove(&address)?;
        let (_, chunk) = self.chunks.range_mut(..=address).next_back()?;
        chunk.space.give_back(address, size);
        chunk.used_bytes -= size;
        self.used.current -= size;
        Some(())
    }

    /// Returns empty chunks to the device while more than `keep_bytes` are reserved.
    pub(crate) fn trim(&mut self, keep_bytes: u64, memory: &mut DeviceMemory) {
        let empty: Vec<_> = self
            .chunks
            .iter()
            .filter(|(_, chunk)| chunk.used_bytes == 0)
            .map(|(&start, chunk)| (start, chunk.size_bytes))
            .collect();
        for (start, size) in empty {
            if self.reserved.current <= keep_bytes {
                break;
            }
            if memory.free(start).is_ok() {
                self.chunks.remove(&start);
                self.reserved.current -= size;
            }
        }
    }

    /// Returns start and size of the allocation that holds an address.
    pub(crate) fn find(&self, address: u64) -> Option<(u64, u64)> {
        let (&start, &size) = self.allocations.range(..=address).next_back()?;
        (address - start < size).then_some((start, size))
    }

    /// Takes a new chunk and cuts the first allocation out of it; returns the start addresses of both.
    fn grow(&mut self, size: u64, memory: &mut DeviceMemory) -> Result<(u64, u64)> {
        let chunk_size = size.checked_next_multiple_of(CHUNK).ok_or(Error::OutOfMemory)?;
        let start = memory.allocate(chunk_size)?;
        let mut space = AddressSpace::new(start, start + chunk_size, AddressOrder::Ascending);
        let address = space.take(size).ok_or(Error::OutOfMemory)?;
        self.chunks.insert(start, Chunk { size_bytes: chunk_size, used_bytes: 0, space });
        self.reserved.add(chunk_size);
        Ok((start, address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_keeps_its_chunks_until_it_is_trimmed() {
        let mut memory = DeviceMemory::new(3 * CHUNK, 1 << 40, 2 << 40, AddressOrder::Ascending);
        let mut pool = Pool::new();
        let first = pool.allocate(1000, &mut memory).expect("there is room");
        let second = pool.allocate(1000, &mut memory).expect("there is room");
        assert_eq!(second, first + 1024);
        assert_eq!((pool.used.current, pool.reserved.current), (2048, CHUNK));
        assert_eq!(pool.find(second + 1023), Some((second, 1024)));
        assert_eq!(pool.free(first), Some(()));
        assert_eq!(pool.free(first), None);
        pool.trim(0, &mut memory);
        assert_eq!(pool.reserved.current, CHUNK, "the chunk is still in use");
        assert_eq!(pool.free(second), Some(()));
        pool.trim(CHUNK, &mut memory);
        assert_eq!(pool.reserved.current, CHUNK, "so much may stay");
        pool.trim(0, &mut memory);
        assert_eq!((pool.reserved.current, pool.reserved.high, memory.free_bytes()), (0, CHUNK, 3 * CHUNK));
    }

    #[test]
    fn a_pool_ends_at_the_devices_limit() {
        let mut memory = DeviceMemory::new(3 * CHUNK, 1 << 40, 2 << 40, AddressOrder::Ascending);
        let mut pool = Pool::new();
        pool.allocate(2 * CHUNK, &mut memory).expect("there is room");
        assert_eq!(pool.allocate(CHUNK + 1, &mut memory), Err(Error::OutOfMemory));
        pool.allocate(CHUNK, &mut memory).expect("there is just room");
        assert_eq!(pool.allocate(1, &mut memory), Err(Error::OutOfMemory));
    }
}
