//! Keeps sums of sizes within 63 bits, whatever sizes a file contains.

use crate::base::{PackedColumn, pieces};
use crate::trace::Device;
use std::ops::Range;

/// Largest size with which one event, block or segment of a device counts.
///
/// Byte counts go up and down along a trace, so a saturated sum would not come down again to its earlier value.
/// A file whose sizes add up to more than 2^63 cannot come from a real machine; its sizes are capped, so that all later
/// code may add and subtract without overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::analysis) struct SizeLimit(u64);

impl SizeLimit {
    /// Returns the limit for a device, which caps nothing unless the sum of all its sizes exceeds 2^63 - 1.
    pub(in crate::analysis) fn of(device: &Device) -> Self {
        let blocks = device.segments.blocks.iter().map(|block| block.live_bytes());
        let segments = device.segments.segments.iter().map(|segment| segment.size_bytes);
        let sizes = device.events.sizes_bytes();
        let events = pieces(sizes.len()).map(|piece| sum_of(sizes, piece));
        let sum = events.chain(blocks).chain(segments).fold(0, u64::saturating_add);
        if i64::try_from(sum).is_ok() {
            return Self(sum);
        }
        let count = device.events.len() + device.segments.blocks.len() + device.segments.segments.len();
        Self(i64::MAX as u64 / count as u64)
    }

    pub(in crate::analysis) fn cap(self, size_bytes: u64) -> u64 {
        size_bytes.min(self.0)
    }
}

/// Returns the saturated sum of some sizes.
#[inline(never)]
fn sum_of(sizes: &PackedColumn<u64>, piece: Range<usize>) -> u64 {
    sizes.range(piece).fold(0, u64::saturating_add)
}
