//! Draws still pictures as shapes: timelines, flame graphs and maps of segments.
//!
//! A timeline has bands, curves, spans, axes and a legend; the other two show one moment.
//! One drawing serves every format: [`svg()`] writes its shapes as text, and other painters may fill pixels with them.

mod drawing;
mod flame;
mod frame;
mod heading;
mod options;
mod plot;
mod segments;
mod svg;

pub use drawing::{Anchor, Drawing, Ink, Shape};
pub use flame::flame_picture;
pub use options::{MomentOptions, PictureOptions};
pub use segments::segments_picture;
pub use svg::{Look, svg};

use crate::analysis::Timeline;
use crate::base::Moment;
use crate::trace::{Device, Trace};
use frame::Frame;

/// Minimum width and height in pixels.
const LEAST_PX: u32 = 240;

/// Maximum height in pixels of a picture without a requested height.
const MOST_PX: u32 = 4000;

/// Describes a moment in words.
fn when(moment: u32, peak: u32) -> String {
    let after = Moment(moment);
    if moment == peak { format!("at the peak, {after},") } else { after.to_string() }
}

/// Draws a timeline; `timeline` was built from `device`.
pub fn timeline_picture(trace: &Trace, device: &Device, timeline: &Timeline, options: &PictureOptions) -> Drawing {
    let (width, height) = (options.width.max(LEAST_PX), options.height.max(LEAST_PX));
    let title = options.title.clone();
    let mut drawing = Drawing { width, height, title, shapes: Vec::new() };
    let spans = crate::analysis::spans(trace, device);
    let frame = Frame::new(device, timeline, options, &spans, (f64::from(width), f64::from(height)));
    frame.background(&mut drawing);
    plot::bands(&frame, options.most_bands, &mut drawing);
    plot::curves(&frame, &mut drawing);
    plot::marks(&frame, &mut drawing);
    frame.lanes(trace, &spans, &mut drawing);
    frame.axes(&mut drawing);
    frame.head(&mut drawing);
    drawing
}

#[cfg(test)]
mod tests;
