//! Reader for the rectangles in a picture's buffer.

/// Length of one band in bytes.
pub const BAND_BYTES: usize = 24;

/// Owner number of a band from before the trace.
pub const INITIAL: u32 = u32::MAX;

/// Owner number of a band of merged neighbours.
pub const MERGED: u32 = u32::MAX - 1;

/// Owner number of a band of an area.
pub const AREA: u32 = u32::MAX - 2;

/// Bit of a colour number that marks memory outside of the selected kind.
pub const OTHER: u32 = 1 << 31;

/// One rectangle; its coordinates are in `0.0..=1.0` across its picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Band {
    pub x0: f32,
    pub x1: f32,
    /// Lower edge; y grows upwards.
    pub y0: f32,
    pub y1: f32,
    /// Position of the allocation, or [`INITIAL`] or [`MERGED`].
    pub owner: u32,
    /// Number from which a hue is chosen, with the bit [`OTHER`].
    pub color: u32,
}

/// Decodes the bands of a picture's buffer.
pub fn bands(buffer: &[u8]) -> impl Iterator<Item = Band> + '_ {
    buffer.chunks_exact(BAND_BYTES).map(|row| {
        let word = |at: usize| u32::from_le_bytes([row[at], row[at + 1], row[at + 2], row[at + 3]]);
        let number = |at: usize| f32::from_bits(word(at));
        Band { x0: number(0), x1: number(4), y0: number(8), y1: number(12), owner: word(16), color: word(20) }
    })
}

/// Returns the owners of the bands in a picture's buffer, each once and in ascending order.
pub fn owners(buffer: &[u8]) -> Vec<u32> {
    let mut owners: Vec<u32> = bands(buffer).map(|band| band.owner).collect();
    owners.sort_unstable();
    owners.dedup();
    owners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_comes_out_as_it_went_in() {
        let mut buffer = Vec::new();
        for number in [0.25f32, 0.5, 0.75, 1.0] {
            buffer.extend(number.to_le_bytes());
        }
        buffer.extend(MERGED.to_le_bytes());
        buffer.extend(7u32.to_le_bytes());
        let all: Vec<Band> = bands(&buffer).collect();
        assert_eq!(all, [Band { x0: 0.25, x1: 0.5, y0: 0.75, y1: 1.0, owner: MERGED, color: 7 }]);
    }
}
