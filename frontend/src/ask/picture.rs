//! Defines the message form of a picture.

use super::raster::{AREA, BAND_BYTES, FILLS, INITIAL, MERGED, OTHER, raster};
use super::timeline::View;
use serde::{Deserialize, Serialize};
use shared::analysis::{Band, BandOwner, CurveStep, Picture};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PictureData {
    /// View that was requested; `None` only in [`PictureData::default`].
    pub view: Option<View>,
    /// Bands of [`BAND_BYTES`] each, those of the initial memory first.
    ///
    /// Little-endian: `x0`, `x1`, `y0`, `y1` as `f32` (`0..=1` across the view), owner and colour number as `u32`.
    #[serde(with = "serde_bytes")]
    pub bands: Vec<u8>,
    /// Pixels of the bands, one byte each, from the lower left corner; see [`raster`](super::raster).
    ///
    /// Empty if the picture comes with an image.
    #[serde(with = "serde_bytes")]
    pub pixels: Vec<u8>,
    /// Live bytes from left to right: the exact maximum of each pixel column.
    pub live: Vec<OutlineStep>,
    /// Reserved bytes, in the same form.
    pub reserved: Vec<OutlineStep>,
    /// Bytes of the selected kind, in the same form; empty if none is selected.
    pub own: Vec<OutlineStep>,
}

/// Step of an outline, at whose `x` the curve changes to `bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutlineStep {
    /// Start of the step, `0..=1` across the view.
    pub x: f32,
    pub bytes: f64,
}

impl PictureData {
    /// Creates the message form of a picture, including its pixels.
    pub fn new(view: View, picture: &Picture) -> Self {
        let Picture { bands: all, live, reserved, own } = picture;
        let mut bands = Vec::with_capacity(all.len() * BAND_BYTES);
        let is_initial = |band: &&Band| band.owner == BandOwner::Initial;
        let ordered = all.iter().filter(is_initial).chain(all.iter().filter(|band| !is_initial(band)));
        ordered.for_each(|band| push_band(&mut bands, band));
        let step = |step: &CurveStep| OutlineStep { x: step.x, bytes: step.bytes as f64 };
        let steps = |curve: &[CurveStep]| curve.iter().map(step).collect();
        let pixels = raster(&bands, &view);
        Self { view: Some(view), bands, pixels, live: steps(live), reserved: steps(reserved), own: steps(own) }
    }

    pub fn band_count(&self) -> usize {
        self.bands.len() / BAND_BYTES
    }
}

fn push_band(bytes: &mut Vec<u8>, band: &Band) {
    let Band { x0, x1, y0, y1, owner, color, is_other } = *band;
    for edge in [x0, x1, y0, y1] {
        bytes.extend(edge.to_le_bytes());
    }
    let owner = match owner {
        BandOwner::Allocation(id) => id.index() as u32,
        BandOwner::Merged => MERGED,
        BandOwner::Initial => INITIAL,
        BandOwner::Area => AREA,
    };
    bytes.extend(owner.to_le_bytes());
    let color = (color % u32::from(FILLS)) | if is_other { OTHER } else { 0 };
    bytes.extend(color.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::analysis::{AllocationId, PictureRequest};

    #[test]
    fn bands_lie_as_the_renderer_reads_them() {
        let band = |owner, color| Band { x0: 0.0, x1: 0.5, y0: 0.25, y1: 1.0, owner, color, is_other: false };
        let owner = BandOwner::Allocation(AllocationId::from_index(7));
        let picture = Picture {
            bands: vec![band(owner, 3), band(BandOwner::Initial, 0)],
            live: vec![CurveStep { x: 0.25, bytes: 1 << 40 }],
            ..Picture::default()
        };
        let request = PictureRequest { x1: 9.0, y1: 9.0, width_px: 100, height_px: 100, ..<_>::default() };
        let view = View { request, pixel_ratio: 1.0, ..View::default() };
        let data = PictureData::new(view, &picture);
        assert_eq!(data.band_count(), 2);
        assert_eq!(data.bands[4..8], 0.5f32.to_le_bytes());
        assert_eq!(data.bands[16..20], INITIAL.to_le_bytes());
        assert_eq!(data.bands[40..48], [7, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(data.live, [OutlineStep { x: 0.25, bytes: (1u64 << 40) as f64 }]);
    }
}
