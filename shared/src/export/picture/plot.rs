//! Draws a timeline: bands, curves and marks. The bands are computed once for all themes.

use super::LEAST_PX;
use super::frame::{Frame, PictureOptions, dot};
use super::tone::{Layers, Tone};
use crate::analysis::{CurveStep, Picture, PictureRequest, Timeline};
use crate::draw::shade;
use crate::draw::{Op, Point, Rect, Sketch, Theme};
use crate::trace::{Device, Trace};

/// Factors by which the resolution is lowered, one after another, until a picture has few enough bands.
const COARSER: [f64; 7] = [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0];

/// Thickness of curves and marks in pixels.
const THICK: f64 = 1.3;

/// Picture of a timeline without its colours; points are in pixels.
#[derive(Debug)]
pub struct TimelinePicture<'a> {
    frame: Frame<'a>,
    bands: Layers,
    live: Vec<Point>,
    reserved: Vec<Point>,
    /// Lines at out-of-memory events.
    ooms: Vec<[Point; 2]>,
    /// Highest live bytes; `None` if there are none.
    peak: Option<Point>,
}

impl<'a> TimelinePicture<'a> {
    /// Lays out a picture; `timeline` was built from `device`.
    pub fn new(trace: &'a Trace, device: &'a Device, timeline: &'a Timeline, options: &'a PictureOptions) -> Self {
        let size = [options.width, options.height].map(|length| f64::from(length.max(LEAST_PX)));
        let frame = Frame::new(trace, (device, timeline), options, size.into());
        let request = PictureRequest { height_px: 0, ..request(&frame, 1.0) };
        let Picture { live, reserved, .. } = timeline.picture(device, &request);
        Self {
            bands: bands(&frame, options.most_bands),
            live: stepped(&frame, &live),
            reserved: stepped(&frame, &reserved),
            ooms: ooms(&frame),
            peak: peak(&frame),
            frame,
        }
    }

    /// Draws the picture in a theme.
    ///
    /// The sketches of all themes have the same operations, except for their colours.
    pub fn sketch(&self, theme: &Theme) -> Sketch {
        let frame = &self.frame;
        let mut sketch = Sketch::blank(frame.size.0, frame.size.1, theme);
        let ops = &mut sketch.ops;
        frame.grid(theme, ops);
        ops.extend(self.bands.ops(theme));
        for (color, points) in [(theme.reserved, &self.reserved), (theme.live, &self.live)] {
            ops.push(Op::line(points.clone(), THICK, color));
        }
        ops.extend(self.ooms.iter().map(|&points| Op::line(points, THICK, theme.oom)));
        ops.extend(self.peak.map(|at| dot(at, theme.peak, theme)));
        frame.lanes(theme, ops);
        frame.axes(theme, ops);
        frame.head(theme, ops);
        sketch
    }
}

fn bands(frame: &Frame<'_>, most_bands: usize) -> Layers {
    let mut layers = Layers::default();
    for band in &picture(frame, most_bands).bands {
        let (left, top) = (place_x(frame, band.x0), place_y(frame, band.y1));
        let (right, bottom) = (place_x(frame, band.x1), place_y(frame, band.y0));
        let (width, height) = (right - left, bottom - top);
        let tone = Tone::of(band);
        layers.add(tone, Rect::new(left, top, width, height));
        if height > shade::SEPARATED && !matches!(tone, Tone::Merged(_)) {
            layers.add(Tone::Separator, Rect::new(left, bottom - 0.7, width, 0.7));
        }
    }
    layers
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

fn place_x(frame: &Frame<'_>, share: f32) -> f64 {
    frame.across.at(f64::from(share))
}

fn place_y(frame: &Frame<'_>, share: f32) -> f64 {
    frame.down.end - f64::from(share) * frame.down.len()
}

/// Converts the highest values of each pixel to positions; a step is level until the next one begins.
fn stepped(frame: &Frame<'_>, steps: &[CurveStep]) -> Vec<Point> {
    let ends = steps.iter().skip(1).map(|next| next.x).chain([1.0]);
    let level = |(step, end): (&CurveStep, f32)| {
        let y = frame.py(step.bytes as f64);
        [(place_x(frame, step.x), y), (place_x(frame, end), y)]
    };
    steps.iter().zip(ends).flat_map(level).collect()
}

/// Returns the lines of the out-of-memory events, at most one per pixel.
fn ooms(frame: &Frame<'_>) -> Vec<[Point; 2]> {
    let mut last = f64::NEG_INFINITY;
    let mut lines = Vec::new();
    for moment in frame.ooms() {
        let x = frame.place_of_moment(moment);
        if x - last >= 1.0 {
            lines.push([(x, frame.down.start), (x, frame.down.end)]);
            last = x;
        }
    }
    lines
}

fn peak(frame: &Frame<'_>) -> Option<Point> {
    let (moment, bytes) = frame.timeline.live_max_in(frame.shown());
    (bytes > 0).then(|| (frame.place_of_moment(moment), frame.py(bytes as f64)))
}
