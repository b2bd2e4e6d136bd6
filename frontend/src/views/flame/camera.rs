//! The only conversion between the plane of a flame graph and the pixels of its element.
//!
//! The plane has weight along x and rows along y; row 0 is the root.

use crate::draw::{Point, Rect, Span, View};
use crate::state::Rootward;
use shared::draw::flame::GAP;

pub use shared::draw::flame::ROW;

/// The visible part of a flame graph, in an element of a given size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlameCamera {
    pub rootward: Rootward,
    /// Weights from the left edge to the right one.
    x: Span,
    /// The row at the element's edge nearest the root; a fraction of a row means that it is partly cut off.
    row: f64,
    weight: f64,
    rows: u32,
    width: f64,
    height: f64,
}

impl FlameCamera {
    pub fn new(rootward: Rootward, weight: f64) -> Self {
        let weight = weight.max(1.0);
        Self { rootward, x: Span::new(0.0, weight), weight, ..Self::default() }
    }

    /// Returns the same view in an element of another size, and for a graph with `rows` rows.
    pub fn fitted(mut self, (width, height): (f64, f64), rows: u32) -> Self {
        (self.width, self.height, self.rows) = (width.max(1.0), height.max(1.0), rows);
        self.confine();
        self
    }

    pub fn x(&self) -> Span {
        self.x
    }

    /// Returns true if nothing is cut off at the left and the right.
    pub fn is_whole(&self) -> bool {
        self.x.len() >= self.weight
    }

    pub fn view(&self) -> View {
        View { x: self.x, y: Span::new(self.row, self.row + self.shown_rows()) }
    }

    pub fn set_view(&mut self, view: View) {
        (self.x, self.row) = (view.x, view.y.start);
        self.confine();
    }

    /// Returns the view in which a box takes the whole width, with its parent's row next to it.
    pub fn view_of(&self, span: Span, depth: u32) -> View {
        let row = f64::from(depth.saturating_sub(1));
        View { x: span, y: Span::new(row, row + self.shown_rows()) }
    }

    /// Returns the view that has a row in it, by the shortest possible move.
    pub fn view_with(&self, depth: u32) -> View {
        let (row, shown) = (f64::from(depth), self.shown_rows());
        let start = self.row.clamp((row + 1.0 - shown).min(row), row);
        View { x: self.x, y: Span::new(start, start + shown) }
    }

    pub fn pan(&mut self, dx: f64, dy: f64) {
        self.x = self.x.moved(-dx / self.width * self.x.len());
        self.row += match self.rootward {
            Rootward::Up => -dy,
            Rootward::Down => dy,
        } / ROW;
        self.confine();
    }

    /// Multiplies the visible range of weights by `factor`; the weight at `x` stays there.
    pub fn zoom(&mut self, x: f64, factor: f64) {
        let len = (self.x.len() * factor).clamp(self.weight * 1e-9, self.weight);
        self.x = self.x.scaled(self.weight_from_x(x), len / self.x.len());
        self.confine();
    }

    pub fn x_from_weight(&self, weight: f64) -> f64 {
        self.x.fraction(weight) * self.width
    }

    pub fn weight_from_x(&self, x: f64) -> f64 {
        self.x.at(x / self.width)
    }

    /// Returns the row at a height; there is none beyond the root.
    pub fn row_from_y(&self, y: f64) -> Option<u32> {
        let from_root = match self.rootward {
            Rootward::Up => y,
            Rootward::Down => self.height - y,
        };
        let row = (self.row + from_root / ROW).floor();
        (row >= 0.0).then_some(row as u32)
    }

    pub fn y_from_row(&self, row: u32) -> f64 {
        let from_root = (f64::from(row) - self.row) * ROW;
        match self.rootward {
            Rootward::Up => from_root,
            Rootward::Down => self.height - from_root - ROW,
        }
    }

    /// Returns the visible rows, including those that are cut off.
    pub fn rows(&self) -> std::ops::Range<u32> {
        let end = (self.row + self.shown_rows()).ceil() as u32;
        self.row.floor() as u32..end.min(self.rows)
    }

    /// Returns the row and the weight at a point; `None` outside of the element.
    pub fn place_at(&self, (x, y): Point) -> Option<(u32, f64)> {
        let is_inside = (0.0..self.width).contains(&x) && (0.0..self.height).contains(&y);
        is_inside.then(|| self.row_from_y(y).map(|row| (row, self.weight_from_x(x))))?
    }

    /// Returns the rectangle of a box in a row, cut just outside the edges of the element.
    pub fn rect(&self, row: u32, span: Span) -> Rect {
        let left = self.x_from_weight(span.start).clamp(-1.0, self.width + 1.0);
        let right = self.x_from_weight(span.end).clamp(-1.0, self.width + 1.0);
        Rect { x: left, y: self.y_from_row(row), width: right - left, height: ROW - GAP }
    }

    fn shown_rows(&self) -> f64 {
        self.height / ROW
    }

    fn confine(&mut self) {
        let len = self.x.len().min(self.weight);
        let start = self.x.start.clamp(0.0, (self.weight - len).max(0.0));
        self.x = Span::new(start, start + len);
        self.row = self.row.clamp(0.0, (f64::from(self.rows) - self.shown_rows()).max(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camera(rootward: Rootward) -> FlameCamera {
        FlameCamera::new(rootward, 1000.0).fitted((500.0, 100.0), 20)
    }

    #[test]
    fn a_point_of_a_box_leads_back_to_it() {
        for rootward in [Rootward::Up, Rootward::Down] {
            let mut camera = camera(rootward);
            camera.set_view(camera.view_of(Span::new(100.0, 300.0), 4));
            for row in camera.rows() {
                let rect = camera.rect(row, Span::new(120.0, 140.0));
                let middle = (rect.x + rect.width / 2.0, rect.y + rect.height / 2.0);
                if let Some((hit, weight)) = camera.place_at(middle) {
                    assert!((weight - 130.0).abs() < 1e-9, "{weight}");
                    assert_eq!(hit, row, "{rootward:?}");
                }
            }
        }
    }

    #[test]
    fn the_root_is_on_top_or_at_the_bottom() {
        assert_eq!(camera(Rootward::Up).y_from_row(0), 0.0);
        assert_eq!(camera(Rootward::Down).y_from_row(0), 80.0);
        assert_eq!((camera(Rootward::Up).row_from_y(1.0), camera(Rootward::Down).row_from_y(99.0)), (Some(0), Some(0)));
    }

    #[test]
    fn the_view_stays_inside_the_graph() {
        let mut camera = camera(Rootward::Up);
        camera.pan(0.0, 50.0);
        assert_eq!((camera.rows(), camera.x()), (0..5, Span::new(0.0, 1000.0)));
        camera.pan(0.0, -10_000.0);
        assert_eq!(camera.rows(), 15..20);
        camera.zoom(250.0, 0.5);
        assert_eq!(camera.x(), Span::new(250.0, 750.0));
        camera.zoom(0.0, 100.0);
        assert!(camera.is_whole());
    }

    #[test]
    fn dragging_moves_with_the_pointer_in_both_directions() {
        let mut hanging = camera(Rootward::Up);
        hanging.pan(0.0, -40.0);
        assert_eq!(hanging.y_from_row(2), 0.0);
        let mut rising = camera(Rootward::Down);
        rising.pan(0.0, 40.0);
        assert_eq!(rising.y_from_row(2), 80.0);
    }

    #[test]
    fn a_row_comes_into_view_by_the_shortest_way() {
        let camera = camera(Rootward::Up);
        assert_eq!(camera.view_with(2).y.start, 0.0);
        assert_eq!(camera.view_with(7).y.start, 3.0);
    }
}
