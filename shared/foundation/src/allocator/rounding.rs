//! Rounds a request to the size of its block, and a block to the size of a new segment.
//!
//! ```text
//! request        block          segment
//! 1000 B         1024 B         2 MiB        up to 1 MiB: the small pool
//! 3 MiB + 1      3 MiB + 512    20 MiB       below 10 MiB: shared
//! 33 MiB + 5     33 MiB + 512   34 MiB       a segment of its own, in steps of 2 MiB
//! ```

use super::settings::{ROUNDUP_INTERVALS, Settings};

/// All blocks are multiples of this, 512 bytes.
pub(super) const MIN_BLOCK: u64 = 512;
/// Largest block of the small pool, 1 MiB.
pub(super) const SMALL_REQUEST: u64 = 1 << 20;
/// Size of a segment of the small pool, 2 MiB.
pub(super) const SMALL_SEGMENT: u64 = 2 << 20;
/// Smallest block that gets a segment of its own, 10 MiB.
const MIN_LARGE_REQUEST: u64 = 10 << 20;
/// Unit of segments that hold one block, 2 MiB.
const LARGE_STEP: u64 = 2 << 20;
/// Largest request, 2^60 bytes; PyTorch refuses more than an exbibyte.
pub(super) const MOST_BYTES: u64 = 1 << 60;

pub(super) fn block_bytes(request_bytes: u64, settings: &Settings) -> u64 {
    let request_bytes = request_bytes.saturating_add(settings.padding_bytes);
    if request_bytes < MIN_BLOCK {
        return MIN_BLOCK;
    }
    let interval = (request_bytes.ilog2().saturating_sub(20) as usize).min(ROUNDUP_INTERVALS - 1);
    let divisions = settings.roundup_power2_divisions[interval];
    if divisions > 1 && request_bytes > MIN_BLOCK * divisions {
        next_division(request_bytes, divisions)
    } else {
        request_bytes.next_multiple_of(MIN_BLOCK)
    }
}

/// Rounds a size up to the next of `divisions` equal parts of a power of two: 1200 with 4 parts becomes 1280.
fn next_division(size_bytes: u64, divisions: u64) -> u64 {
    if size_bytes.is_power_of_two() {
        return size_bytes;
    }
    let floor = 1 << size_bytes.ilog2();
    match floor >> divisions.ilog2() {
        0 => floor << 1,
        step => size_bytes.next_multiple_of(step),
    }
}

pub(super) fn segment_bytes(block_bytes: u64, settings: &Settings) -> u64 {
    if block_bytes <= SMALL_REQUEST {
        SMALL_SEGMENT
    } else if block_bytes < MIN_LARGE_REQUEST {
        settings.large_segment_bytes
    } else {
        block_bytes.next_multiple_of(LARGE_STEP)
    }
}

impl Settings {
    pub fn block_bytes(&self, request_bytes: u64) -> u64 {
        block_bytes(request_bytes.min(MOST_BYTES), self)
    }

    pub fn is_small(block_bytes: u64) -> bool {
        block_bytes <= SMALL_REQUEST
    }

    /// Returns true if a block of the large pool keeps the rest behind its rounded request instead of splitting it off.
    ///
    /// Expandable segments split off every rest of at least 512 bytes, and so does the small pool.
    pub fn keeps_rest(&self, block_bytes: u64, rest_bytes: u64) -> bool {
        !self.expandable_segments && (self.is_oversize(block_bytes) || rest_bytes <= SMALL_REQUEST)
    }

    /// Returns the unit in bytes in which an expandable segment grows and shrinks.
    pub fn unit_bytes(&self, is_small: bool) -> u64 {
        if is_small { SMALL_SEGMENT } else { self.large_segment_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[track_caller]
    fn check(divisions: u64, cases: &[(u64, u64)]) {
        let settings = Settings { roundup_power2_divisions: [divisions; 16], ..Settings::default() };
        for &(request, block) in cases {
            assert_eq!(block_bytes(request, &settings), block, "{request} with {divisions} divisions");
        }
    }

    #[test]
    fn padding_is_part_of_the_request() {
        let settings = Settings { padding_bytes: 32, ..Settings::default() };
        for (request, block) in [(1, 512), (480, 512), (481, 1024), (512, 1024), (16 * MIB, 16 * MIB + 512)] {
            assert_eq!(block_bytes(request, &settings), block);
        }
    }

    #[test]
    fn a_block_is_the_request_in_steps_of_512() {
        check(0, &[(1, 512), (512, 512), (513, 1024), (MIB + 1, MIB + 512)]);
    }

    #[test]
    fn divisions_round_up_to_a_part_of_a_power_of_two() {
        // Values as PyTorch 2.15 returns them: 1200 bytes are below 4 * 512 and stay in steps of 512.
        check(4, &[(1200, 1536), (MIB + 1, 5 * MIB / 4), (5 * MIB + 1, 6 * MIB), (33 * MIB + 5, 40 * MIB)]);
        check(4, &[(MIB, MIB), (4096, 4096)]);
    }

    #[test]
    fn a_segment_holds_its_first_block() {
        let settings = Settings::default();
        for (block, segment) in [(512, 2 * MIB), (MIB, 2 * MIB), (MIB + 512, 20 * MIB), (10 * MIB - 512, 20 * MIB)] {
            assert_eq!(segment_bytes(block, &settings), segment, "{block}");
        }
        assert_eq!(segment_bytes(10 * MIB, &settings), 10 * MIB);
        assert_eq!(segment_bytes(33 * MIB + 512, &settings), 34 * MIB);
    }
}
