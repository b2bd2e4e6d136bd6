//! How many bytes can be seen.

use super::PictureRequest;

/// An allocation of this many pixels or more is a band of its own.
const BAND_PX: f64 = 1.25;

/// From which sizes on allocations and groups are drawn by themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// The smallest allocation that is a band of its own: 1.25 pixels.
    pub(super) large_bytes: u64,
}

impl Scale {
    /// The scale of a request that has a height.
    pub(super) fn new(request: &PictureRequest) -> Self {
        let bytes_per_px = (request.y1 - request.y0) / f64::from(request.height_px);
        Self { large_bytes: ((BAND_PX * bytes_per_px).ceil() as u64).max(1) }
    }

    /// The size that groups of small allocations have at most, as a power of two: 2.5 to 5 pixels.
    ///
    /// It is at least two large allocations, so that one small allocation never fills half of a group.
    pub(super) fn group_bits(self) -> u8 {
        (u64::BITS - (self.large_bytes - 1).leading_zeros() + 1) as u8
    }

    /// Neighbouring groups of together no more than this are joined: half of a full group.
    pub(super) fn join_bytes(self) -> u64 {
        1_u64.checked_shl(u32::from(self.group_bits()) - 1).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_two_large_allocations_or_more() {
        for large_bytes in [1, 2, 3, 4, 5, 1000, 1024, 1025, 1 << 40, (1 << 62) + 1] {
            let scale = Scale { large_bytes };
            let group = 1_u128 << scale.group_bits();
            let large = u128::from(large_bytes);
            assert!(2 * large <= group && group < 4 * large.max(1), "{large_bytes} and {group}");
            assert_eq!(u128::from(scale.join_bytes()), group / 2);
        }
        assert_eq!(Scale { large_bytes: u64::MAX }.join_bytes(), u64::MAX);
    }
}
