//! Placement of the pictures at hand over the plot, for one frame.

use super::plan::Layer;
use crate::ask::View as Asked;
use crate::draw::{Camera, Layout, Span, Theme, View};

/// Rectangle in device pixels of the plot, with y pointing up from its bottom edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceRect {
    pub x: i32,
    pub y: i32,
    pub width: i32,
    pub height: i32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    pub layer: Layer,
    /// Position of the picture's lower left corner, in device pixels of the plot.
    pub offset: [f64; 2],
    /// Width and height of the picture, in device pixels.
    pub scale: [f64; 2],
    /// Part of the plot that the picture may cover.
    pub clip: DeviceRect,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Frame<'a> {
    pub layout: &'a Layout,
    pub placements: Vec<Placement>,
    pub theme: &'a Theme,
    pub hovered: Option<u32>,
    /// Allocation whose bands are pinned; all others are dimmed, unless a selected kind has made the rest grey.
    pub pinned: Option<u32>,
}

/// Returns the pictures to draw in one frame, the lower one first.
///
/// The detail is drawn where it covers the plot, and the overview elsewhere.
pub fn placements(camera: &Camera, overview: Option<&Asked>, detail: Option<&Asked>) -> Vec<Placement> {
    // The overview is sharp at its own scale, so no detail is needed, and an older one would be coarser.
    let detail = detail.filter(|_| !camera.is_whole()).map(|asked| place(camera, Layer::Detail, asked));
    let detail = detail.filter(|placement| placement.clip.width > 0 && placement.clip.height > 0);
    let overview = overview.map(|asked| place(camera, Layer::Overview, asked));
    let plot = camera.plot();
    let (width, height) = (plot.device_width() as i32, plot.device_height() as i32);
    let is_hidden = detail.is_some_and(|detail| detail.clip == DeviceRect { x: 0, y: 0, width, height });
    overview.filter(|_| !is_hidden).into_iter().chain(detail).collect()
}

fn place(camera: &Camera, layer: Layer, asked: &Asked) -> Placement {
    let (View { x, y }, plot) = (camera.view(), camera.plot());
    let (left, right) = device_range(x, Span::new(asked.request.x0, asked.request.x1), plot.device_width());
    let (low, high) = device_range(y, Span::new(asked.request.y0, asked.request.y1), plot.device_height());
    let pixels = |from: f64, to: f64, end: f64| {
        let from = from.round().clamp(0.0, end);
        (from as i32, (to.round().clamp(0.0, end) - from) as i32)
    };
    let (clip_x, clip_width) = pixels(left, right, plot.device_width());
    let (clip_y, clip_height) = pixels(low, high, plot.device_height());
    Placement {
        layer,
        offset: [left, low],
        scale: [right - left, high - low],
        clip: DeviceRect { x: clip_x, y: clip_y, width: clip_width, height: clip_height },
    }
}

fn device_range(view: Span, picture: Span, pixels: f64) -> (f64, f64) {
    (view.fraction(picture.start) * pixels, view.fraction(picture.end) * pixels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Axis;
    use crate::draw::{Content, PlotSize};
    use crate::views::timeline::draw::plan::Plan;

    fn camera() -> Camera {
        let content = Content { x_end: 1000.0, min_len: 4.0, max_bytes: 1e6 };
        Camera::new(content, PlotSize { width: 500.0, height: 200.0, pixel_ratio: 2.0 })
    }

    fn asked(camera: &Camera) -> Asked {
        let mut plan = Plan::default();
        let (layer, overview) = plan.next(camera, Axis::Events).expect("an overview");
        plan.answered(layer, overview);
        plan.next(camera, Axis::Events).map_or(overview, |(_, detail)| detail)
    }

    #[test]
    fn a_picture_of_the_view_fills_the_plot() {
        let camera = camera();
        let all = placements(&camera, Some(&asked(&camera)), None);
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].offset, all[0].scale), ([0.0, 0.0], [1000.0, 400.0]));
        assert_eq!(all[0].clip, DeviceRect { x: 0, y: 0, width: 1000, height: 400 });
    }

    #[test]
    fn the_overview_is_left_out_where_the_detail_covers_all() {
        let (overview, mut camera) = (asked(&camera()), camera());
        camera.zoom_x(250.0, 0.1);
        let detail = asked(&camera);
        let layers = |camera: &Camera| -> Vec<Layer> {
            placements(camera, Some(&overview), Some(&detail)).iter().map(|placement| placement.layer).collect()
        };
        assert_eq!(layers(&camera), [Layer::Detail]);
        camera.pan(400.0, 0.0);
        assert_eq!(layers(&camera), [Layer::Overview, Layer::Detail]);
        camera.pan(4000.0, 0.0);
        assert_eq!(layers(&camera), [Layer::Overview]);
    }

    #[test]
    fn a_detail_is_clipped_to_the_plot() {
        let mut camera = camera();
        camera.zoom_x(250.0, 0.1);
        let detail = asked(&camera);
        camera.pan(400.0, 0.0);
        let placement = placements(&camera, None, Some(&detail))[0];
        assert_eq!(placement.clip, DeviceRect { x: 650, y: 0, width: 350, height: 400 });
        assert_eq!(placement.offset, [650.0, 0.0]);
    }
}
