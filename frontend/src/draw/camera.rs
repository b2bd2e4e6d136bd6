//! The only conversion between the timeline's plane and the pixels of the plot.
//!
//! The plane has a *position* along x (a moment, or microseconds since the first event) and bytes along y. Pixels are
//! CSS pixels of the plot, with y downwards from its top edge; a [`PlotSize`] knows the device pixels.

use super::span::Span;

/// Maximum height and width of a requested picture, in device pixels.
pub const MAX_PICTURE_PX: f64 = 8192.0;

/// Minimum vertical range of the plot in bytes: half of the allocator's smallest block.
const MIN_BYTES: f64 = 256.0;

/// Margin on each side of a range that is shown whole, as a share of that range.
const ROOM: f64 = 0.08;

/// A part of the plane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct View {
    /// Positions from the left edge to the right one.
    pub x: Span,
    /// Bytes from the bottom edge to the top one.
    pub y: Span,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlotSize {
    pub width: f64,
    pub height: f64,
    /// Number of device pixels per CSS pixel.
    pub pixel_ratio: f64,
}

impl Default for PlotSize {
    fn default() -> Self {
        Self { width: 1.0, height: 1.0, pixel_ratio: 1.0 }
    }
}

impl PlotSize {
    pub fn device_width(self) -> f64 {
        (self.width * self.pixel_ratio).round().max(1.0)
    }

    pub fn device_height(self) -> f64 {
        (self.height * self.pixel_ratio).round().max(1.0)
    }
}

/// Extent of everything that can be shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Content {
    /// End of the x axis, which starts at 0.
    pub x_end: f64,
    /// Shortest range of x that can be zoomed to.
    pub min_len: f64,
    /// Maximum of the live and reserved curves, in bytes.
    pub max_bytes: f64,
}

impl Content {
    /// Returns the view of everything, with 6 % of room above for the labels.
    pub fn whole(self) -> View {
        View { x: Span::new(0.0, self.x_end.max(self.min_len)), y: Span::new(0.0, (self.max_bytes * 1.06).max(1024.0)) }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self { x_end: 1.0, min_len: 1.0, max_bytes: 0.0 }
    }
}

/// A view of the content on a plot.
///
/// Invariant: the view lies within the content.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Camera {
    view: View,
    content: Content,
    plot: PlotSize,
}

impl Camera {
    /// Creates a camera that shows everything.
    pub fn new(content: Content, plot: PlotSize) -> Self {
        Self { view: content.whole(), content, plot }
    }

    pub fn view(&self) -> View {
        self.view
    }

    pub fn content(&self) -> Content {
        self.content
    }

    pub fn plot(&self) -> PlotSize {
        self.plot
    }

    /// Returns the camera for a plot of another size, with the same view.
    pub fn resized(self, plot: PlotSize) -> Self {
        Self { plot, ..self }
    }

    /// Shows the part of the content nearest to `view`.
    pub fn set_view(&mut self, view: View) {
        self.view = self.confined(view);
    }

    /// Returns the part of the content nearest to `view`.
    pub fn confined(&self, view: View) -> View {
        let whole = self.content.whole();
        View { x: view.x.confined(whole.x, self.content.min_len), y: view.y.confined(whole.y, MIN_BYTES) }
    }

    /// Returns true if everything is in view.
    pub fn is_whole(&self) -> bool {
        self.view == self.content.whole()
    }

    /// Converts a position to CSS pixels from the left edge of the plot.
    pub fn x_from_position(&self, position: f64) -> f64 {
        self.view.x.fraction(position) * self.plot.width
    }

    /// Converts CSS pixels from the left edge of the plot to a position.
    pub fn position_from_x(&self, x: f64) -> f64 {
        self.view.x.at(x / self.plot.width)
    }

    /// Returns the length of the x axis that one device pixel shows.
    pub fn units_per_device_pixel(&self) -> f64 {
        self.view.x.len() / self.plot.device_width()
    }

    /// Converts bytes to CSS pixels from the top edge of the plot.
    pub fn y_from_bytes(&self, bytes: f64) -> f64 {
        (1.0 - self.view.y.fraction(bytes)) * self.plot.height
    }

    /// Converts CSS pixels from the top edge of the plot to bytes.
    pub fn bytes_from_y(&self, y: f64) -> f64 {
        self.view.y.at(1.0 - y / self.plot.height)
    }

    /// Multiplies the visible range of x by a factor; the position at `x` stays there.
    pub fn zoom_x(&mut self, x: f64, factor: f64) {
        let anchor = self.position_from_x(x);
        self.set_view(View { x: self.zoomed(self.view.x, anchor, factor, self.content.min_len), ..self.view });
    }

    /// Multiplies the visible range of bytes by a factor; the bytes at `y` stay there.
    pub fn zoom_y(&mut self, y: f64, factor: f64) {
        let anchor = self.bytes_from_y(y);
        self.set_view(View { y: self.zoomed(self.view.y, anchor, factor, MIN_BYTES), ..self.view });
    }

    /// Moves the content by a distance in CSS pixels, like a hand that drags it.
    pub fn pan(&mut self, dx: f64, dy: f64) {
        let Self { view: View { x, y }, plot, .. } = *self;
        self.set_view(View { x: x.moved(-dx * x.len() / plot.width), y: y.moved(dy * y.len() / plot.height) });
    }

    /// Returns the view between two corners in CSS pixels, in any order.
    pub fn view_from_box(&self, (ax, ay): (f64, f64), (bx, by): (f64, f64)) -> View {
        self.confined(View {
            x: Span::new(self.position_from_x(ax.min(bx)), self.position_from_x(ax.max(bx))),
            y: Span::new(self.bytes_from_y(ay.max(by)), self.bytes_from_y(ay.min(by))),
        })
    }

    /// Returns a view around another position, as long as the current one but at most 1/10 of the content.
    pub fn view_around(&self, position: f64) -> View {
        let len = self.view.x.len().min(self.content.whole().x.len() / 10.0);
        self.confined(View { x: Span::around(position, len), y: self.view.y })
    }

    /// Returns a view of the range between two positions with some margin, as high as the content.
    ///
    /// If they are close together, the range is as long as that of [`view_around`](Self::view_around) them.
    pub fn view_between(&self, first: f64, last: f64) -> View {
        let x = Span::new(first.min(last), first.max(last)).grown(ROOM);
        let around = self.view_around(x.center()).x;
        self.confined(View { x: if x.len() > around.len() { x } else { around }, y: self.content.whole().y })
    }

    // Limiting the factor, instead of the result, keeps the anchor exact at the minimum length.
    fn zoomed(&self, span: Span, anchor: f64, factor: f64, min_len: f64) -> Span {
        span.scaled(anchor, factor.max(min_len.min(span.len()) / span.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camera() -> Camera {
        let content = Content { x_end: 1000.0, min_len: 4.0, max_bytes: 1_000_000.0 };
        Camera::new(content, PlotSize { width: 500.0, height: 200.0, pixel_ratio: 2.0 })
    }

    #[test]
    fn pixels_and_positions_are_inverse() {
        let mut camera = camera();
        camera.zoom_x(120.0, 0.25);
        camera.zoom_y(50.0, 0.5);
        for x in [0.0, 13.0, 499.5] {
            assert!((camera.x_from_position(camera.position_from_x(x)) - x).abs() < 1e-9);
        }
        for y in [0.0, 13.0, 199.5] {
            assert!((camera.y_from_bytes(camera.bytes_from_y(y)) - y).abs() < 1e-9);
        }
    }

    #[test]
    fn bytes_grow_upwards() {
        assert_eq!(camera().y_from_bytes(0.0), 200.0);
        assert!(camera().y_from_bytes(1_000_000.0) > 0.0);
    }

    #[test]
    fn what_lies_between_two_places_is_shown_whole() {
        let camera = camera();
        assert_eq!(camera.view_between(500.0, 200.0).x, Span::new(176.0, 524.0));
        assert_eq!(camera.view_between(500.0, 510.0).x, Span::new(455.0, 555.0));
        assert_eq!(camera.view_between(0.0, 1000.0), camera.view());
    }

    #[test]
    fn zooming_keeps_what_is_under_the_cursor() {
        let mut camera = camera();
        let before = camera.position_from_x(200.0);
        camera.zoom_x(200.0, 0.1);
        assert!((camera.position_from_x(200.0) - before).abs() < 1e-9);
        assert_eq!(camera.view().x.len(), 100.0);
    }

    #[test]
    fn zooming_stops_at_the_minimum_and_at_the_whole() {
        let mut camera = camera();
        let before = camera.position_from_x(333.0);
        (0..100).for_each(|_| camera.zoom_x(333.0, 0.5));
        assert!((camera.view().x.len() - 4.0).abs() < 1e-9);
        assert!((camera.position_from_x(333.0) - before).abs() < 1e-6);
        (0..100).for_each(|_| camera.zoom_x(10.0, 2.0));
        assert_eq!(camera.view(), camera.content().whole());
        assert!(camera.is_whole());
    }

    #[test]
    fn panning_follows_the_hand_and_stops_at_the_end() {
        let mut camera = camera();
        camera.zoom_x(250.0, 0.5);
        camera.pan(50.0, 0.0);
        assert_eq!(camera.view().x, Span::new(200.0, 700.0));
        camera.pan(5000.0, 5000.0);
        assert_eq!(camera.view().x, Span::new(0.0, 500.0));
        assert_eq!(camera.view().y, camera.content().whole().y);
    }

    #[test]
    fn a_box_becomes_the_view_whatever_corner_comes_first() {
        let camera = camera();
        let view = camera.view_from_box((100.0, 150.0), (50.0, 100.0));
        assert_eq!(view, camera.view_from_box((50.0, 100.0), (100.0, 150.0)));
        assert_eq!(view.x, Span::new(100.0, 200.0));
        assert!((view.y.start - camera.bytes_from_y(150.0)).abs() < 1e-6);
    }

    #[test]
    fn a_jump_centres_and_zooms_in_if_needed() {
        assert_eq!(camera().view_around(500.0).x, Span::new(450.0, 550.0));
        assert_eq!(camera().view_around(0.0).x, Span::new(0.0, 100.0));
    }

    #[test]
    fn an_empty_trace_still_has_a_view() {
        let camera = Camera::new(Content::default(), PlotSize::default());
        assert!(camera.view().x.len() > 0.0 && camera.view().y.len() > 0.0);
    }
}
