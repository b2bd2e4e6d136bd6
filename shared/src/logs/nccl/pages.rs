//! Counts the memory of a GPU in the pages in which drivers hand it out.
//!
//! A GPU's memory is mapped in pages of 2 MiB. `cudaMalloc` puts small buffers into a common page; with NCCL's cuMem, each
//! buffer begins its own. The addresses tell which.
//!
//! ```text
//! buffers   |8 KiB  8 KiB        |3 MiB                     |
//! pages     [0                   ][1                  ][2                  ]     6 MiB
//! ```

use hashbrown::HashMap;

/// Size of a page, which `cuMemGetAllocationGranularity` returns on every GPU with CUDA.
pub(super) const PAGE_BYTES: u64 = 2 << 20;

/// Pages that buffers use.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// Number of buffers that begin or end in a page; others cannot use the pages between.
    ends: HashMap<u64, u32>,
    /// Number of pages between the ends of buffers.
    inner: u64,
}

impl Pages {
    pub(super) fn add(&mut self, pointer: u64, bytes: u64) {
        let (ends, inner) = pages(pointer, bytes);
        self.inner = self.inner.saturating_add(inner);
        ends.into_iter().flatten().for_each(|page| *self.ends.entry(page).or_default() += 1);
    }

    pub(super) fn remove(&mut self, pointer: u64, bytes: u64) {
        let (ends, inner) = pages(pointer, bytes);
        self.inner = self.inner.saturating_sub(inner);
        for page in ends.into_iter().flatten() {
            let Some(buffers) = self.ends.get_mut(&page) else { continue };
            *buffers -= 1;
            if *buffers == 0 {
                self.ends.remove(&page);
            }
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.inner.saturating_add(self.ends.len() as u64).saturating_mul(PAGE_BYTES)
    }
}

/// Returns the pages in which a buffer begins and ends, and the number of pages between them.
fn pages(pointer: u64, bytes: u64) -> ([Option<u64>; 2], u64) {
    let first = pointer / PAGE_BYTES;
    let last = pointer.saturating_add(bytes.saturating_sub(1)) / PAGE_BYTES;
    ([Some(first), (last > first).then_some(last)], (last - first).saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_buffers_share_a_page() {
        let mut pages = Pages::default();
        pages.add(0, 8192);
        pages.add(8192, 8192);
        assert_eq!(pages.bytes(), PAGE_BYTES);
        pages.add(PAGE_BYTES, 3 << 20);
        assert_eq!(pages.bytes(), 6 << 20);
        pages.add(10 * PAGE_BYTES, 512 << 20);
        assert_eq!(pages.bytes(), (6 << 20) + (512 << 20));
        pages.remove(0, 8192);
        assert_eq!(pages.bytes(), (6 << 20) + (512 << 20));
        pages.remove(8192, 8192);
        pages.remove(10 * PAGE_BYTES, 512 << 20);
        assert_eq!(pages.bytes(), 4 << 20);
    }

    #[test]
    fn absurd_buffers_do_not_overflow() {
        let mut pages = Pages::default();
        pages.add(u64::MAX, u64::MAX);
        pages.add(0, u64::MAX);
        pages.add(1, u64::MAX);
        assert_eq!(pages.bytes(), u64::MAX);
    }
}
