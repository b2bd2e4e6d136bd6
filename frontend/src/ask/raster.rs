//! Rasterizer from bands, which are rectangles, to pixels of one byte each, which are indices into a palette.
//!
//! The Web Worker fills the pixels of a picture, so that the page only has to put an image over the plot. A graphics
//! card would draw the bands as fast, but without one each of a hundred thousand rectangles takes several microseconds,
//! and the page waits.
//!
//! Rows run from the bottom up, as in textures.
//!
//! Cost: proportional to the rows of all bands, at most twice the pixels of the picture.

use super::timeline::{ColorBy, View as Asked};
use shared::draw::color::Color;
use shared::draw::pixels::{Palette, color_top_down};
use shared::draw::shade;
use shared::draw::theme::{HUES, Theme};

/// Number of colours of bands; numbers of colours are taken modulo this one.
pub(super) const FILLS: u8 = HUES as u8 * shade::SHADES as u8;
const BACKGROUND: u8 = 0;
const FIRST_FILL: u8 = 1;
const FIRST_MERGED: u8 = FIRST_FILL + FILLS;
const FIRST_INITIAL: u8 = FIRST_MERGED + FILLS;
/// Number of shades from the middle of a stripe to the ground between stripes.
const STRIPE_STEPS: u8 = 4;
const FIRST_OTHER: u8 = FIRST_INITIAL + STRIPE_STEPS;
/// Number of greys of memory outside of the selected kind, by which neighbours can be told apart.
const GREYS: u8 = shade::GREYS as u8;
/// Bit that marks the lower edge of a band.
const SEPARATOR: u8 = 0x80;

/// Fills the pixels of a picture with its bands.
pub fn raster(rows: &[u8], asked: &Asked) -> Vec<u8> {
    let (width, height) = (asked.request.width_px as usize, asked.request.height_px as usize);
    let mut pixels = vec![BACKGROUND; width * height];
    let (period, stripes) = stripe_row(asked);
    let [_, up] = stripe_shift(asked);
    let separator = asked.pixel_ratio.round().max(1.0) as usize;
    for band in bands(rows) {
        // A pixel belongs to the band that covers its centre, so that neighbours meet without a seam.
        let edge = |share: f32, length: usize| (f64::from(share) * length as f64).round() as usize;
        let (left, right) = (edge(band.x0, width), edge(band.x1, width).min(width));
        let (low, high) = (edge(band.y0, height), edge(band.y1, height).min(height));
        if left >= right {
            continue;
        }
        let edge_rows = if (high.saturating_sub(low)) as f64 > shade::SEPARATED { separator } else { 0 };
        for row in low..high {
            let line = &mut pixels[row * width..][left..right];
            if band.owner == INITIAL {
                let shift = (row as f64 + up) as usize % period;
                line.copy_from_slice(&stripes[shift..][left..right]);
            } else {
                let mark = if row - low < edge_rows { SEPARATOR } else { 0 };
                line.fill(value_of(&band) | mark);
            }
        }
    }
    pixels
}

fn value_of(band: &Band) -> u8 {
    let number = (band.color & !OTHER) % u32::from(FILLS);
    if band.color & OTHER != 0 {
        return FIRST_OTHER + number as u8 % GREYS;
    }
    let number = number as u8;
    if band.owner == MERGED { FIRST_MERGED + number } else { FIRST_FILL + number }
}

/// Returns the period of the stripes, which fall from left to right at 45 degrees, and one row of them, long enough to
/// start at any shift.
///
/// A higher row is the same row, shifted.
fn stripe_row(asked: &Asked) -> (usize, Vec<u8>) {
    let period = shade::HATCH_PERIOD * asked.pixel_ratio;
    let whole = period.round().max(1.0) as usize;
    let [right, _] = stripe_shift(asked);
    let value = |x: usize| {
        let at = ((x as f64 + right) / period).fract();
        // Distance from the middle of the stripe, in CSS pixels.
        let distance = (at - 0.5).abs() * shade::HATCH_PERIOD;
        let step = ((distance - 0.35).clamp(0.0, 1.0) * f64::from(STRIPE_STEPS - 1)).round() as u8;
        FIRST_INITIAL + step
    };
    (whole, (0..asked.request.width_px as usize + whole).map(value).collect())
}

/// Replaces `colored` by the colours of a picture's pixels, the top row first.
pub fn color(pixels: &[u8], asked: &Asked, colored: &mut Vec<[u8; 4]>) {
    let palette = palette(asked.scheme.theme(), asked.color);
    color_top_down(pixels, asked.request.width_px as usize, &palette, colored);
}

/// Returns a theme's colours for the pixel values of a picture that is coloured by stack or by category.
fn palette(theme: &Theme, by: ColorBy) -> Palette {
    let mut colors = [theme.background; 128];
    for number in 0..FILLS {
        colors[usize::from(FIRST_FILL + number)] = shade::fill(number.into(), by, theme);
        colors[usize::from(FIRST_MERGED + number)] = shade::merged_fill(number.into(), by, theme);
    }
    for step in 0..STRIPE_STEPS {
        let share = f32::from(step) / f32::from(STRIPE_STEPS - 1);
        colors[usize::from(FIRST_INITIAL + step)] = theme.initial_hatch.mixed(theme.initial, share);
    }
    for number in 0..GREYS {
        colors[usize::from(FIRST_OTHER + number)] = shade::other_fill(number.into(), theme);
    }
    let mut palette = [[0; 4]; 256];
    for (value, color) in colors.into_iter().enumerate() {
        let is_faint = (usize::from(FIRST_MERGED)..usize::from(FIRST_INITIAL)).contains(&value)
            || value >= usize::from(FIRST_OTHER);
        let strength = theme.separator.alpha * if is_faint { shade::MERGED_SEPARATOR_SHARE } else { 1.0 };
        palette[value] = opaque(color);
        palette[value | usize::from(SEPARATOR)] = opaque(color.mixed(theme.separator, strength));
    }
    palette
}

fn opaque(color: Color) -> [u8; 4] {
    let [red, green, blue] = color.channels();
    [red, green, blue, 255]
}

/// Returns the shift of a picture's stripes in device pixels, so that they continue those of its neighbour.
///
/// The shift is reduced modulo 960, a multiple of the stripes' periods, which keeps the numbers small.
fn stripe_shift(asked: &Asked) -> [f64; 2] {
    const PERIOD: f64 = 960.0;
    let shift = |from: f64, to: f64, pixels: u32| (from / (to - from) * f64::from(pixels)).rem_euclid(PERIOD);
    [
        shift(asked.request.x0, asked.request.x1, asked.request.width_px),
        shift(asked.request.y0, asked.request.y1, asked.request.height_px),
    ]
}

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
    use shared::analysis::{Category, PictureRequest};

    fn asked(width_px: u32, height_px: u32) -> Asked {
        let request = PictureRequest { x1: 9.0, y1: 9.0, width_px, height_px, ..PictureRequest::default() };
        Asked { request, pixel_ratio: 1.0, ..Asked::default() }
    }

    fn row(edges: [f32; 4], owner: u32, color: u32) -> Vec<u8> {
        let edges = edges.into_iter().flat_map(f32::to_le_bytes);
        edges.chain(owner.to_le_bytes()).chain(color.to_le_bytes()).collect()
    }

    /// Draws pixels as letters, the top row first: `.` nothing, `a` the first fill, `A` its lower edge.
    fn drawn(pixels: &[u8], width: usize) -> Vec<String> {
        let letter = |&value: &u8| match value {
            BACKGROUND => '.',
            value if value & SEPARATOR != 0 => char::from(b'A' + (value & !SEPARATOR) - FIRST_FILL),
            value => char::from(b'a' + value - FIRST_FILL),
        };
        pixels.chunks(width).rev().map(|line| line.iter().map(letter).collect()).collect()
    }

    #[test]
    fn neighbours_meet_without_a_seam() {
        let rows =
            [row([0.0, 0.5, 0.0, 0.5], 7, 0), row([0.5, 1.0, 0.0, 0.25], 8, 1), row([0.0, 0.5, 0.5, 0.75], 9, 2)];
        assert_eq!(drawn(&raster(&rows.concat(), &asked(4, 4)), 4), ["....", "cc..", "aa..", "aabb"]);
    }

    #[test]
    fn high_bands_have_an_edge() {
        let rows = row([0.0, 1.0, 0.0, 1.0], 7, 0);
        assert_eq!(drawn(&raster(&rows, &asked(2, 6)), 2), ["aa", "aa", "aa", "aa", "aa", "AA"]);
    }

    #[test]
    fn what_covers_no_middle_is_not_drawn() {
        let rows = [row([0.0, 0.1, 0.0, 1.0], 7, 0), row([0.0, 1.0, 0.0, 0.1], 7, 0), row([0.3, 0.2, 0.9, 0.1], 7, 0)];
        assert!(raster(&rows.concat(), &asked(4, 4)).iter().all(|&value| value == BACKGROUND));
    }

    #[test]
    fn stripes_fall_to_the_right() {
        let pixels = raster(&row([0.0, 1.0, 0.0, 1.0], INITIAL, 0), &asked(32, 16));
        let at = |x: usize, y: usize| pixels[y * 32 + x];
        assert!((0..31).all(|x| at(x, 1) == at(x + 1, 0)), "a row up is the row moved to the left");
        assert!(pixels.contains(&FIRST_INITIAL) && pixels.contains(&(FIRST_INITIAL + STRIPE_STEPS - 1)));
    }

    #[test]
    fn every_value_has_a_colour() {
        for (theme, by) in [(Theme::light(), ColorBy::Stack), (Theme::dark(), ColorBy::Category)] {
            let palette = palette(&theme, by);
            assert_eq!(palette[usize::from(BACKGROUND)], opaque(theme.background));
            assert_eq!(palette[usize::from(FIRST_FILL)], opaque(shade::fill(0, by, &theme)));
            assert_ne!(palette[usize::from(FIRST_FILL | SEPARATOR)], palette[usize::from(FIRST_FILL)]);
            assert_eq!(palette[usize::from(FIRST_MERGED)], opaque(shade::merged_fill(0, by, &theme)));
        }
        const { assert!(Category::ALL.len() < FILLS as usize) };
        const { assert!(FIRST_OTHER + GREYS <= SEPARATOR) };
    }

    #[test]
    fn stripes_go_on_from_picture_to_picture() {
        let picture =
            |x0, x1| Asked { request: PictureRequest { x0, x1, ..asked(1000, 1000).request }, ..asked(1000, 1000) };
        let (left, right) = (stripe_shift(&picture(0.0, 500.0)), stripe_shift(&picture(500.0, 1000.0)));
        assert!((left[0] + 1000.0 - right[0]).rem_euclid(960.0) < 1e-6);
    }

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
