//! The binary part of a picture, as it is transferred from the worker to the page.
//!
//! ```text
//! bands: 24 bytes each | live steps: 16 bytes each | reserved steps: 16 bytes each
//! ```
//!
//! The three counts stand in the JSON text beside it ([`PayloadCounts`]).
//! All numbers are little-endian, as WebAssembly and every GPU in reach are.

use super::protocol::{OutlineStep, PictureData};
use serde::{Deserialize, Serialize};
use shared::analysis::{Band, BandOwner, CurveStep, Picture};

const STEP_BYTES: usize = 16;

/// How many records of each kind a payload holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PayloadCounts {
    /// Bands.
    pub bands: usize,
    /// Steps of the live outline.
    pub live: usize,
    /// Steps of the reserved outline.
    pub reserved: usize,
}

impl PictureData {
    /// The length of one band.
    pub const BAND_BYTES: usize = 24;
    /// The owner number of a band from before the trace.
    pub const INITIAL: u32 = u32::MAX;
    /// The owner number of a band of merged neighbours.
    pub const MERGED: u32 = u32::MAX - 1;

    /// The number of bands.
    pub fn band_count(&self) -> usize {
        self.bands.len() / Self::BAND_BYTES
    }

    /// Takes over what [`encode`] wrote; `None` if the counts don't fit the bytes.
    pub fn with_payload(mut self, mut bytes: Vec<u8>) -> Option<Self> {
        let counts = self.counts;
        let live_at = counts.bands.checked_mul(Self::BAND_BYTES)?;
        let reserved_at = counts.live.checked_mul(STEP_BYTES)?.checked_add(live_at)?;
        let end = counts.reserved.checked_mul(STEP_BYTES)?.checked_add(reserved_at)?;
        if end != bytes.len() {
            return None;
        }
        self.live = steps(&bytes[live_at..reserved_at]);
        self.reserved = steps(&bytes[reserved_at..]);
        bytes.truncate(live_at);
        self.bands = bytes;
        Some(self)
    }
}

/// Writes a picture as one payload.
pub fn encode(picture: &Picture) -> (PayloadCounts, Vec<u8>) {
    let Picture { bands, live, reserved } = picture;
    let counts = PayloadCounts { bands: bands.len(), live: live.len(), reserved: reserved.len() };
    let length = bands.len() * PictureData::BAND_BYTES + (live.len() + reserved.len()) * STEP_BYTES;
    let mut bytes = Vec::with_capacity(length);
    for band in bands {
        push_band(&mut bytes, band);
    }
    for CurveStep { x, bytes: height } in live.iter().chain(reserved) {
        bytes.extend(f64::from(*x).to_le_bytes());
        bytes.extend((*height as f64).to_le_bytes());
    }
    (counts, bytes)
}

fn push_band(bytes: &mut Vec<u8>, band: &Band) {
    let Band { x0, x1, y0, y1, owner, color } = *band;
    for edge in [x0, x1, y0, y1] {
        bytes.extend(edge.to_le_bytes());
    }
    let owner = match owner {
        BandOwner::Allocation(id) => id.index() as u32,
        BandOwner::Merged => PictureData::MERGED,
        BandOwner::Initial => PictureData::INITIAL,
    };
    bytes.extend(owner.to_le_bytes());
    bytes.extend(color.to_le_bytes());
}

fn steps(bytes: &[u8]) -> Vec<OutlineStep> {
    let (pairs, _) = bytes.as_chunks::<STEP_BYTES>();
    let number = |half: &[u8]| f64::from_le_bytes(half.try_into().expect("eight bytes"));
    pairs.iter().map(|pair| OutlineStep { x: number(&pair[..8]) as f32, bytes: number(&pair[8..]) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::analysis::AllocationId;

    fn picture() -> Picture {
        let band = |owner, color| Band { x0: 0.0, x1: 0.5, y0: 0.25, y1: 1.0, owner, color };
        Picture {
            bands: vec![band(BandOwner::Initial, 0), band(BandOwner::Allocation(AllocationId::from_index(7)), 3)],
            live: vec![CurveStep { x: 0.25, bytes: 1 << 40 }],
            reserved: vec![CurveStep { x: 0.0, bytes: 5 }, CurveStep { x: 0.5, bytes: 6 }],
        }
    }

    #[test]
    fn a_payload_comes_back() {
        let (counts, bytes) = encode(&picture());
        let data = PictureData { counts, ..Default::default() }.with_payload(bytes).expect("counts fit");
        assert_eq!(data.band_count(), 2);
        assert_eq!(data.bands[16..20], PictureData::INITIAL.to_le_bytes());
        assert_eq!(data.bands[40..48], [7, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(data.live, [OutlineStep { x: 0.25, bytes: (1u64 << 40) as f64 }]);
        assert_eq!(data.reserved[1], OutlineStep { x: 0.5, bytes: 6.0 });
    }

    #[test]
    fn counts_that_do_not_fit_are_refused() {
        let (counts, bytes) = encode(&picture());
        let wrong = PayloadCounts { bands: usize::MAX, ..counts };
        let data = |counts| PictureData { counts, ..Default::default() };
        assert_eq!(data(wrong).with_payload(bytes.clone()), None);
        assert_eq!(data(counts).with_payload(bytes[1..].to_vec()), None);
    }
}
