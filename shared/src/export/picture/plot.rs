//! Draws the content of the plot: bands, curves and marks.

use super::drawing::{BAND_COLORS, Drawing, Ink, Shape};
use super::frame::{Frame, line};
use crate::analysis::{Band, BandOwner, CurveStep, Picture, PictureRequest};
use crate::draw::shade;
use std::collections::BTreeMap;

/// Factors by which the resolution is lowered, one after another, until a picture has few enough bands.
const COARSER: [f64; 7] = [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0];

/// Draws the bands, one shape for each colour.
pub(super) fn bands(frame: &Frame<'_>, most_bands: usize, drawing: &mut Drawing) {
    let mut by_ink: BTreeMap<Ink, Vec<[f64; 4]>> = BTreeMap::new();
    for band in &picture(frame, most_bands).bands {
        let (left, top) = (place_x(frame, band.x0), place_y(frame, band.y1));
        let (right, bottom) = (place_x(frame, band.x1), place_y(frame, band.y0));
        let (width, height) = (right - left, bottom - top);
        by_ink.entry(ink(band)).or_default().push([left, top, width, height]);
        if height > shade::SEPARATED && band.owner != BandOwner::Merged {
            by_ink.entry(Ink::Separator).or_default().push([left, bottom - 0.7, width, 0.7]);
        }
    }
    drawing.shapes.extend(by_ink.into_iter().map(|(ink, boxes)| Shape::Boxes { ink, boxes }));
}

/// Returns the sharpest picture with at most `most_bands` bands, or the coarsest one if all have more.
fn picture(frame: &Frame<'_>, most_bands: usize) -> Picture {
    let mut drawn = Picture::default();
    for coarser in COARSER {
        drawn = frame.timeline.picture(frame.device, &request(frame, coarser));
        if drawn.bands.len() <= most_bands {
            break;
        }
    }
    drawn
}

fn request(frame: &Frame<'_>, coarser: f64) -> PictureRequest {
    let pixels = |length: f64| (length / coarser).ceil().max(1.0) as u32;
    PictureRequest {
        axis: frame.axis,
        x0: frame.x.start,
        x1: frame.x.end,
        y0: frame.y.start,
        y1: frame.y.end,
        width_px: pixels(frame.across.len()),
        height_px: pixels(frame.down.len()),
    }
}

fn ink(band: &Band) -> Ink {
    match band.owner {
        BandOwner::Allocation(_) => Ink::Band(band.color % BAND_COLORS),
        BandOwner::Merged => Ink::Merged(band.color % BAND_COLORS),
        BandOwner::Initial => Ink::Initial,
    }
}

fn place_x(frame: &Frame<'_>, share: f32) -> f64 {
    frame.across.at(f64::from(share))
}

fn place_y(frame: &Frame<'_>, share: f32) -> f64 {
    frame.down.end - f64::from(share) * frame.down.len()
}

/// Draws the live and the reserved bytes, with the highest value of each pixel.
pub(super) fn curves(frame: &Frame<'_>, drawing: &mut Drawing) {
    let request = PictureRequest { height_px: 0, ..request(frame, 1.0) };
    let Picture { live, reserved, .. } = frame.timeline.picture(frame.device, &request);
    for (ink, steps) in [(Ink::Reserved, reserved), (Ink::Live, live)] {
        line(drawing, ink, 1.3, &stepped(frame, &steps));
    }
}

/// Converts steps to positions; a step is level until the next one begins.
fn stepped(frame: &Frame<'_>, steps: &[CurveStep]) -> Vec<(f64, f64)> {
    let ends = steps.iter().skip(1).map(|next| next.x).chain([1.0]);
    let level = |(step, end): (&CurveStep, f32)| {
        let y = frame.py(step.bytes as f64);
        [(place_x(frame, step.x), y), (place_x(frame, end), y)]
    };
    steps.iter().zip(ends).flat_map(level).collect()
}

/// Draws the peak and the out-of-memory events.
pub(super) fn marks(frame: &Frame<'_>, drawing: &mut Drawing) {
    let mut last = f64::NEG_INFINITY;
    for moment in frame.ooms() {
        let x = frame.px_of_moment(moment).clamp(frame.across.start, frame.across.end);
        // At most one event is drawn per pixel.
        if x - last >= 1.0 {
            line(drawing, Ink::Oom, 1.3, &[(x, frame.down.start), (x, frame.down.end)]);
            last = x;
        }
    }
    let (moment, bytes) = frame.timeline.live_max_in(frame.shown());
    if bytes > 0 {
        let x = frame.px_of_moment(moment).clamp(frame.across.start, frame.across.end);
        drawing.shapes.push(Shape::Dot { ink: Ink::Peak, at: (x, frame.py(bytes as f64)), radius: 4.0 });
    }
}
