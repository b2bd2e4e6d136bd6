//! Computes the sizes in bytes from which allocations and groups are drawn.

use super::request::PictureRequest;

/// Minimum height of an allocation that is a band of its own, in pixels.
///
/// Two neighbours together are at least this high, so that there are at most 2 / 1.25 = 1.6 bands per pixel.
const BAND_PX: f64 = 1.25;

/// Sizes from which allocations and groups are drawn by themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Size of the smallest allocation that is a band of its own: 1.25 pixels.
    pub(super) large_bytes: u64,
}

impl Scale {
    /// Computes the scale of a request, whose height must not be 0.
    pub(super) fn new(request: &PictureRequest) -> Self {
        let bytes_per_px = (request.y1 - request.y0) / f64::from(request.height_px);
        Self { large_bytes: ((BAND_PX * bytes_per_px).ceil() as u64).max(1) }
    }

    /// Returns the maximum size of a group of small allocations, as a power of two: 2.5 to 5 pixels.
    ///
    /// It is at least twice the smallest large allocation, so that one small allocation never fills 1/2 of a group.
    pub(super) fn group_bits(self) -> u8 {
        (u64::BITS - (self.large_bytes - 1).leading_zeros() + 1) as u8
    }

    /// Returns the size up to which two neighbouring groups together are joined: 1/2 of a full group.
    ///
    /// It is no less than the smallest large allocation, so that neighbours that stay apart are together as high.
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
