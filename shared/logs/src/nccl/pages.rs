//! Counts the memory of a GPU in the pages in which drivers hand it out, by the process that the beginning of a line of
//! NCCL names.
//!
//! A GPU's memory is mapped in pages of 2 MiB. `cudaMalloc` puts small buffers into a common page; with NCCL's cuMem, each
//! buffer begins its own. The addresses tell which.
//!
//! ```text
//! buffers   |8 KiB  8 KiB        |3 MiB                     |
//! pages     [0                   ][1                  ][2                  ]     6 MiB
//! ```

use hashbrown::HashMap;
use shared::base::stamp::{self, Stamp};

/// Size of a page, which `cuMemGetAllocationGranularity` returns on every GPU with CUDA.
pub(super) const PAGE_BYTES: u64 = 2 << 20;

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

/// Process and GPU that a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Origin<'a> {
    pub(super) host: &'a str,
    pub(super) pid: u32,
    pub(super) device: u32,
}

/// Splits a line into its origin, its date if it has one, and the message; `None` for lines that are not of NCCL.
///
/// `src/debug.cc` of NCCL has the forms. Launchers write more in front of them, such as `[rank0]: `.
///
/// ```text
/// node7:227602:227667 [0] NCCL INFO comm 0x5639e9f0e8c0 rank 0 nranks 8 …
/// [2026-11-24 10:00:00] node7:227602:227667 [0] NCCL INFO …
/// node7:227602:227667 [0] 12.345678 ncclCudaFree:152 NCCL TRACE Cuda Free pointer 0x7f…
/// ```
pub(super) fn split_origin(line: &str) -> Option<(Origin<'_>, Option<Stamp>, &str)> {
    let (head, message) = line.split_once(" NCCL INFO ").or_else(|| line.split_once(" NCCL TRACE "))?;
    let mut before = head;
    // The device is the last number in brackets whose neighbour is a process.
    loop {
        let (left, right) = before.rsplit_once(" [")?;
        let device = right.split(']').next().and_then(|number| number.parse().ok());
        let process = left.rsplit(' ').next().unwrap_or_default();
        if let Some((device, (host, pid))) = device.zip(process_of(process)) {
            let stamp = stamp::stamp(&left[..left.len() - process.len()]);
            return Some((Origin { host, pid, device }, stamp, message));
        }
        before = left;
    }
}

/// Reads `host:pid:thread`.
fn process_of(text: &str) -> Option<(&str, u32)> {
    let mut parts = text.rsplitn(3, ':');
    let (thread, pid, host) = (parts.next()?, parts.next()?, parts.next()?);
    thread.parse::<u32>().ok()?;
    Some((host, pid.parse().ok()?))
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

    #[track_caller]
    fn check(line: &str, host: &str, pid: u32, device: u32, time_ms: Option<i64>) {
        let (origin, stamp, message) = split_origin(line).expect(line);
        assert_eq!(origin, Origin { host, pid, device }, "{line}");
        assert_eq!((stamp.and_then(|stamp| stamp.epoch_ms()), message), (time_ms, "x 1"), "{line}");
    }

    #[test]
    fn lines_say_who_printed_them() {
        check("vm2:15364:15375 [3] NCCL INFO x 1", "vm2", 15_364, 3, None);
        check("[0] h100-1:227602:227667 [7] NCCL INFO x 1", "h100-1", 227_602, 7, None);
        check("[rank1]: a.b.c:1:2 [0] 12.345678 ncclCudaFree:152 NCCL TRACE x 1", "a.b.c", 1, 0, None);
        let time_ms = Some(1_795_514_400_000);
        check("[2026-11-24 10:00:00] vm2:15364:15375 [3] NCCL INFO x 1", "vm2", 15_364, 3, time_ms);
    }

    #[test]
    fn other_lines_have_no_origin() {
        for line in
            ["", "NCCL INFO x", "a [0] NCCL INFO x", "a:b:c [0] NCCL INFO x", "a:1:2 [x] NCCL INFO y", "a:1:2 [0] x"]
        {
            assert_eq!(split_origin(line), None, "{line}");
        }
    }
}
