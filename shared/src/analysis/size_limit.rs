//! A guard that keeps sums of sizes within 63 bits, whatever a file claims.

use crate::base::{Column, pieces};
use crate::trace::Device;
use std::ops::Range;

/// The largest size that one event, block or segment of a device counts with.
///
/// Byte counts go up and down along a trace, so that a sum that saturates would not come down again to where it was.
/// A file whose sizes add up to more than 2^63 is no recording of a real machine; its sizes are capped, so that
/// everything later may add and subtract freely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SizeLimit(u64);

impl SizeLimit {
    /// The limit for a device: none unless the sum of all its sizes passes 2^63.
    pub(super) fn of(device: &Device) -> Self {
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

    /// `size_bytes`, or the limit where it is larger.
    pub(super) fn cap(self, size_bytes: u64) -> u64 {
        size_bytes.min(self.0)
    }
}

/// The sum of some sizes, or the largest number where it is larger.
#[inline(never)]
fn sum_of(sizes: &Column<u64>, piece: Range<usize>) -> u64 {
    sizes.range(piece).fold(0, u64::saturating_add)
}
