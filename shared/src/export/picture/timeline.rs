//! Draws a timeline; its bands are computed once for all themes.

use super::LEAST_PX;
use super::frame::Frame;
use super::options::PictureOptions;
use super::plot::Plot;
use crate::analysis::Timeline;
use crate::draw::sketch::Sketch;
use crate::draw::theme::Theme;
use crate::trace::{Device, Trace};

/// Picture of a timeline without its colours.
#[derive(Debug)]
pub struct TimelinePicture<'a> {
    frame: Frame<'a>,
    plot: Plot,
}

impl<'a> TimelinePicture<'a> {
    /// Lays out a picture; `timeline` was built from `device`.
    pub fn new(trace: &'a Trace, device: &'a Device, timeline: &'a Timeline, options: &'a PictureOptions) -> Self {
        let size = (options.width.max(LEAST_PX), options.height.max(LEAST_PX));
        let frame = Frame::new(trace, (device, timeline), options, (f64::from(size.0), f64::from(size.1)));
        let plot = Plot::new(&frame, options.most_bands);
        Self { frame, plot }
    }

    /// Draws the picture in a theme.
    ///
    /// The sketches of all themes have the same operations, except for their colours.
    pub fn sketch(&self, theme: &Theme) -> Sketch {
        let Self { frame, plot } = self;
        let mut sketch = Sketch::blank(frame.size.0, frame.size.1, theme);
        let ops = &mut sketch.ops;
        frame.grid(theme, ops);
        plot.draw(theme, ops);
        frame.lanes(theme, ops);
        frame.axes(theme, ops);
        frame.head(theme, ops);
        sketch
    }
}
