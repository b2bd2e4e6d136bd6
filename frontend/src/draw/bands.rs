//! The rectangles of a picture, as they lie in its buffer.

use crate::worker::{OutlineStep, PictureData, View as Asked};

/// One rectangle, `0.0..=1.0` across its picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Band {
    /// Left edge.
    pub x0: f32,
    /// Right edge.
    pub x1: f32,
    /// Lower edge.
    pub y0: f32,
    /// Upper edge.
    pub y1: f32,
    /// Position of the allocation, or [`PictureData::INITIAL`] or [`PictureData::MERGED`].
    pub owner: u32,
    /// A number to choose a hue by.
    pub color: u32,
}

/// The bands in a picture's buffer.
pub fn bands(buffer: &[u8]) -> impl Iterator<Item = Band> + '_ {
    buffer.chunks_exact(PictureData::BAND_BYTES).map(|row| {
        let word = |at: usize| u32::from_le_bytes([row[at], row[at + 1], row[at + 2], row[at + 3]]);
        let number = |at: usize| f32::from_bits(word(at));
        Band { x0: number(0), x1: number(4), y0: number(8), y1: number(12), owner: word(16), color: word(20) }
    })
}

/// The owners of a picture's bands, each once and in ascending order.
pub fn owners(picture: &PictureData) -> Vec<u32> {
    let mut owners: Vec<u32> = bands(&picture.bands).map(|band| band.owner).collect();
    owners.sort_unstable();
    owners.dedup();
    owners
}

/// One straight piece of an outline, `0.0..=1.0` across its picture; level or upright.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Left end.
    pub x0: f32,
    /// Right end.
    pub x1: f32,
    /// Lower end.
    pub y0: f32,
    /// Upper end.
    pub y1: f32,
    /// The width of its step, of the wider one for a piece between two.
    ///
    /// Among narrow steps a line is drawn fainter: a thousand uprights side by side would hide what they stand on.
    /// A single spike stands beside a wide step and keeps its strength.
    pub step: f32,
}

/// The pieces of a stepped line: a level one for each step and an upright one between neighbours.
pub fn pieces(steps: &[OutlineStep], asked: &Asked) -> Vec<Piece> {
    let height = |step: &OutlineStep| ((step.bytes - asked.y0) / (asked.y1 - asked.y0)) as f32;
    let mut pieces: Vec<Piece> = Vec::with_capacity(steps.len() * 2);
    for (index, step) in steps.iter().enumerate() {
        let (y, right) = (height(step), steps.get(index + 1).map_or(1.0, |next| next.x));
        let width = right - step.x;
        if let Some(&Piece { y0: from, step: before, .. }) = pieces.last().filter(|before| before.y0 != y) {
            let (y0, y1) = (y.min(from), y.max(from));
            pieces.push(Piece { x0: step.x, x1: step.x, y0, y1, step: width.max(before) });
        }
        pieces.push(Piece { x0: step.x, x1: right, y0: y, y1: y, step: width });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::AxisKind;

    #[test]
    fn a_band_comes_out_as_it_went_in() {
        let mut buffer = Vec::new();
        for number in [0.25f32, 0.5, 0.75, 1.0] {
            buffer.extend(number.to_le_bytes());
        }
        buffer.extend(PictureData::MERGED.to_le_bytes());
        buffer.extend(7u32.to_le_bytes());
        let all: Vec<Band> = bands(&buffer).collect();
        assert_eq!(all, [Band { x0: 0.25, x1: 0.5, y0: 0.75, y1: 1.0, owner: PictureData::MERGED, color: 7 }]);
    }

    #[test]
    fn an_outline_is_level_and_upright() {
        let asked =
            Asked { axis: AxisKind::Events, x0: 0.0, x1: 10.0, y0: 100.0, y1: 200.0, width_px: 10, height_px: 10 };
        let steps = [OutlineStep { x: 0.0, bytes: 150.0 }, OutlineStep { x: 0.5, bytes: 200.0 }];
        let piece = |x0, x1, y0, y1| Piece { x0, x1, y0, y1, step: 0.5 };
        assert_eq!(
            pieces(&steps, &asked),
            [piece(0.0, 0.5, 0.5, 0.5), piece(0.5, 0.5, 0.5, 1.0), piece(0.5, 1.0, 1.0, 1.0)]
        );
        assert!(pieces(&[], &asked).is_empty());
    }
}
