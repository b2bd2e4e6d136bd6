//! Decides which pictures to request, and when.
//!
//! Two pictures are kept: an *overview* of the whole trace and a *detail* of the view and its surroundings. Panning and
//! zooming move them at once; a sharper one is requested as soon as the last request is answered.

use crate::ask::{Axis, ColorBy, Marking, NameMark, View as Asked};
use crate::draw::{Camera, MAX_PICTURE_PX, Span, View};
use crate::state::Scheme;
use shared::analysis::PictureRequest;

/// Margins of a detail beyond each side, as shares of the view's width and height.
type Margins = [f64; 2];

/// Margins while panning, so that no holes are shown; smaller above and below, because vertical panning is rarer.
const WIDE: Margins = [0.5, 0.25];

/// Margins while zooming, when the next picture has another scale anyway.
const NARROW: Margins = [0.15, 0.15];

/// Minimum margin left beyond a side, as a share of the view; with less, the next detail is due.
const SPARE: f64 = 0.12;

/// Relative difference below which two scales count as equal: one device pixel in 200.
const SAME_SCALE: f64 = 0.005;

/// Height in device pixels below which a pinned allocation might be merged; pictures merge those below 1.25 pixels.
const APART_PX: f64 = 1.5;

/// Colours of pictures, and what they set apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Looks {
    pub color: ColorBy,
    pub scheme: Scheme,
    pub kind: Option<NameMark>,
    pub pinned: Option<(u32, u64)>,
}

impl Looks {
    /// Returns what a picture sets apart at a scale; a pinned allocation that is a band of its own anyway needs no care.
    fn marking(&self, bytes_per_px: f64) -> Marking {
        let is_low = |size_bytes: u64| (size_bytes as f64) < bytes_per_px * APART_PX;
        let apart = self.pinned.filter(|&(_, size_bytes)| is_low(size_bytes)).map(|(allocation, _)| allocation);
        Marking { kind: self.kind, apart }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    Overview,
    Detail,
}

impl Layer {
    pub fn index(self) -> usize {
        match self {
            Self::Overview => 0,
            Self::Detail => 1,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    overview: Option<Asked>,
    detail: Option<Asked>,
    in_flight: bool,
    looks: Looks,
}

impl Plan {
    /// Requests other colours from now on; an open request is answered first.
    pub fn look(&mut self, looks: Looks) {
        self.looks = looks;
    }

    /// Returns the next request; `None` while one is open or if the pictures are good enough.
    pub fn next(&mut self, camera: &Camera, axis: Axis) -> Option<(Layer, Asked)> {
        if self.in_flight {
            return None;
        }
        let whole = overview_of(camera, axis, self.looks);
        let question = if self.overview != Some(whole) {
            Some((Layer::Overview, whole))
        } else if camera.is_whole() || self.detail.is_some_and(|detail| suits(&detail, camera, axis, self.looks)) {
            None
        } else {
            let is_panned = self.detail.is_some_and(|detail| has_scale_of(&detail, camera));
            let margins = if is_panned { WIDE } else { NARROW };
            Some((Layer::Detail, detail_of(camera, axis, self.looks, margins)))
        };
        self.in_flight = question.is_some();
        question
    }

    pub fn answered(&mut self, layer: Layer, asked: Asked) {
        self.in_flight = false;
        match layer {
            Layer::Overview => self.overview = Some(asked),
            Layer::Detail => self.detail = Some(asked),
        }
    }

    pub fn failed(&mut self) {
        self.in_flight = false;
    }

    /// Returns true if the pictures show the view as sharply as possible.
    pub fn is_settled(&self, camera: &Camera, axis: Axis) -> bool {
        !self.in_flight && self.clone().next(camera, axis).is_none()
    }
}

fn overview_of(camera: &Camera, axis: Axis, looks: Looks) -> Asked {
    let View { x, y } = camera.content().whole();
    let plot = camera.plot();
    asked((axis, looks), x, y, [plot.device_width(), plot.device_height(), plot.pixel_ratio])
}

/// Returns the request for the view and its surroundings, at the scale of the plot.
fn detail_of(camera: &Camera, axis: Axis, looks: Looks, margins: Margins) -> Asked {
    let (View { x, y }, whole, plot) = (camera.view(), camera.content().whole(), camera.plot());
    let (wide, width) = surroundings(x, whole.x, plot.device_width(), margins[0]);
    let (high, height) = surroundings(y, whole.y, plot.device_height(), margins[1]);
    // The same marking whatever the margins: rounding errors must not change it.
    let marking = looks.marking(y.len() / plot.device_height());
    Asked { marking, ..asked((axis, looks), wide, high, [width, height, plot.pixel_ratio]) }
}

/// Returns a range with its margins, and its length in device pixels.
///
/// Margins are whole pixels, so that the picture's pixels coincide with the screen's and nothing is blurred or doubled.
fn surroundings(view: Span, whole: Span, pixels: f64, margin: f64) -> (Span, f64) {
    let pixel = view.len() / pixels;
    let most = (pixels * margin).round().min(((MAX_PICTURE_PX - pixels) / 2.0).floor());
    let margin_to = |room: f64| (room / pixel + 1e-6).floor().min(most).max(0.0);
    let (before, after) = (margin_to(view.start - whole.start), margin_to(whole.end - view.end));
    (Span::new(view.start - before * pixel, view.end + after * pixel), pixels + before + after)
}

fn asked((axis, looks): (Axis, Looks), x: Span, y: Span, [width, height, pixel_ratio]: [f64; 3]) -> Asked {
    let pixels = |length: f64| length.round().clamp(1.0, MAX_PICTURE_PX) as u32;
    let (width_px, height_px) = (pixels(width), pixels(height));
    Asked {
        request: PictureRequest { axis, x0: x.start, x1: x.end, y0: y.start, y1: y.end, width_px, height_px },
        pixel_ratio,
        color: looks.color,
        scheme: looks.scheme,
        marking: looks.marking(y.len() / f64::from(height_px)),
    }
}

/// Returns true if a detail shows the view at its scale and in its colours, with room to pan.
fn suits(detail: &Asked, camera: &Camera, axis: Axis, looks: Looks) -> bool {
    let (view, whole, plot) = (camera.view(), camera.content().whole(), camera.plot());
    let marking = looks.marking(view.y.len() / plot.device_height());
    detail.request.axis == axis
        && (detail.color, detail.scheme, detail.marking) == (looks.color, looks.scheme, marking)
        && has_scale_of(detail, camera)
        && reaches(Span::new(detail.request.x0, detail.request.x1), view.x, whole.x, plot.device_width())
        && reaches(Span::new(detail.request.y0, detail.request.y1), view.y, whole.y, plot.device_height())
}

fn has_scale_of(asked: &Asked, camera: &Camera) -> bool {
    let (View { x, y }, plot, request) = (camera.view(), camera.plot(), &asked.request);
    let same = |picture: f64, pixels: u32, view: f64, view_pixels: f64| {
        (picture / f64::from(pixels) / (view / view_pixels) - 1.0).abs() < SAME_SCALE
    };
    same(request.x1 - request.x0, request.width_px, x.len(), plot.device_width().min(MAX_PICTURE_PX))
        && same(request.y1 - request.y0, request.height_px, y.len(), plot.device_height().min(MAX_PICTURE_PX))
}

/// Returns true if a picture extends beyond the view, or to the end of the content.
///
/// A pixel less is tolerated.
fn reaches(picture: Span, view: Span, whole: Span, pixels: f64) -> bool {
    let pixel = view.len() / pixels;
    Span::new(picture.start - pixel, picture.end + pixel).covers(view.grown(SPARE).intersection(whole))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::{Content, PlotSize};

    const AXIS: Axis = Axis::Events;

    fn camera() -> Camera {
        let content = Content { x_end: 1000.0, min_len: 4.0, max_bytes: 1e6 };
        Camera::new(content, PlotSize { width: 500.0, height: 200.0, pixel_ratio: 2.0 })
    }

    /// Answers requests until there are none, and returns their layers.
    fn settle(plan: &mut Plan, camera: &Camera) -> Vec<Layer> {
        std::iter::from_fn(|| {
            let (layer, asked) = plan.next(camera, AXIS)?;
            plan.answered(layer, asked);
            Some(layer)
        })
        .take(10)
        .collect()
    }

    /// Returns a plan that is settled where the camera is after zooming to a part of the width.
    fn settled(part: f64) -> (Plan, Camera) {
        let (mut plan, mut camera) = (Plan::default(), camera());
        camera.zoom_x(250.0, part);
        settle(&mut plan, &camera);
        assert!(plan.is_settled(&camera, AXIS));
        (plan, camera)
    }

    #[test]
    fn the_whole_trace_needs_one_picture_even_after_a_failure() {
        let mut plan = Plan::default();
        plan.next(&camera(), AXIS);
        plan.failed();
        assert_eq!(settle(&mut plan, &camera()), [Layer::Overview]);
        assert!(plan.is_settled(&camera(), AXIS));
    }

    #[test]
    fn zooming_in_asks_for_a_detail_with_a_margin_and_panning_for_more() {
        let (mut plan, mut camera) = settled(1.0);
        camera.zoom_x(250.0, 0.1);
        let (layer, asked) = plan.next(&camera, AXIS).expect("a detail is due");
        assert_eq!(layer, Layer::Detail);
        assert_eq!((asked.request.x0, asked.request.x1, asked.request.width_px), (435.0, 565.0, 1300));
        assert_eq!(asked.request.height_px, 400);
        plan.answered(layer, asked);
        camera.pan(30.0, 0.0);
        let (_, asked) = plan.next(&camera, AXIS).expect("the edge is near");
        assert_eq!(asked.request.width_px, 2000);
    }

    #[test]
    fn one_question_at_a_time_and_then_the_newest_view() {
        let (mut plan, mut camera) = settled(1.0);
        camera.zoom_x(250.0, 0.5);
        let (layer, first) = plan.next(&camera, AXIS).expect("a detail is due");
        camera.zoom_x(250.0, 0.5);
        assert_eq!(plan.next(&camera, AXIS), None);
        plan.answered(layer, first);
        let (_, second) = plan.next(&camera, AXIS).expect("the view has changed since");
        assert!(second.request.x1 - second.request.x0 < first.request.x1 - first.request.x0);
    }

    #[test]
    fn the_margin_covers_a_small_pan_and_the_end_one_of_any_length() {
        let (mut plan, mut camera) = settled(0.1);
        camera.pan(10.0, 0.0);
        assert!(plan.is_settled(&camera, AXIS));
        camera.pan(30.0, 0.0);
        assert_eq!(settle(&mut plan, &camera), [Layer::Detail]);
        camera.pan(100.0, 0.0);
        assert!(plan.is_settled(&camera, AXIS));
        camera.pan(1e9, -1e9);
        settle(&mut plan, &camera);
        assert!(plan.is_settled(&camera, AXIS));
    }

    #[test]
    fn another_axis_size_or_colour_starts_again() {
        let (mut plan, camera) = settled(1.0);
        assert!(!plan.is_settled(&camera, Axis::Time));
        let larger = camera.resized(PlotSize { width: 800.0, ..camera.plot() });
        assert_eq!(settle(&mut plan, &larger), [Layer::Overview]);
        let (mut plan, camera) = settled(0.1);
        plan.look(Looks { color: ColorBy::Category, ..Looks::default() });
        assert_eq!(settle(&mut plan, &camera), [Layer::Overview, Layer::Detail]);
        assert!(plan.is_settled(&camera, AXIS));
    }

    #[test]
    fn only_a_low_pinned_allocation_needs_other_pictures() {
        let (mut plan, camera) = settled(1.0);
        // A million bytes on 400 pixels: 2500 bytes each.
        plan.look(Looks { pinned: Some((7, 10_000)), ..Looks::default() });
        assert!(plan.is_settled(&camera, AXIS));
        plan.look(Looks { pinned: Some((7, 3_000)), ..Looks::default() });
        let (layer, asked) = plan.next(&camera, AXIS).expect("the allocation may be merged");
        assert_eq!((layer, asked.marking), (Layer::Overview, Marking { kind: None, apart: Some(7) }));
        plan.answered(layer, asked);
        plan.look(Looks { kind: Some(NameMark::of(["f"])), ..Looks::default() });
        assert_eq!(settle(&mut plan, &camera), [Layer::Overview]);
    }
}
