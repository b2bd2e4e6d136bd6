//! Layout and drawing operations of the timeline, without a browser.

pub mod axes;
pub mod capacity;
pub mod flags;
pub mod initial;
pub mod labels;
pub mod lane;
pub mod markers;
pub mod minimap;
pub mod navigation;
pub mod pieces;
mod places;
pub mod plan;
pub mod scene;

/// What the tests of several painters draw on.
#[cfg(test)]
mod stage {
    use crate::ask::{Axis, ColorBy, View as Asked};
    use crate::draw::{Camera, Content, Layout, View};
    use shared::analysis::PictureRequest;

    pub(super) const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

    /// Returns a camera over ten million events and 74 GiB, and a layout of this width.
    pub(super) fn stage(width: f64) -> (Camera, Layout) {
        let layout = Layout::new(width, 500.0, 1.0, 0);
        let content = Content { x_end: 10_000_001.0, min_len: 4.0, max_bytes: 74.0 * GIB };
        (Camera::new(content, layout.plot_size()), layout)
    }

    /// Returns the request of a picture with 1000 by 500 pixels.
    pub(super) fn asked(axis: Axis, View { x, y }: View) -> Asked {
        let (width_px, height_px) = (1000, 500);
        Asked {
            request: PictureRequest { axis, x0: x.start, x1: x.end, y0: y.start, y1: y.end, width_px, height_px },
            pixel_ratio: 1.0,
            color: ColorBy::Stack,
            scheme: Default::default(),
            marking: Default::default(),
        }
    }
}
