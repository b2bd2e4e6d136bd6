//! Defines a range along one axis, with the operations of a camera.

/// Half-open range along one axis, in the units of the axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    pub start: f64,
    pub end: f64,
}

impl Span {
    pub fn new(start: f64, end: f64) -> Self {
        Self { start, end }
    }

    /// Creates a range of this length around a centre.
    pub fn around(center: f64, len: f64) -> Self {
        Self::new(center - len / 2.0, center + len / 2.0)
    }

    pub fn len(self) -> f64 {
        self.end - self.start
    }

    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }

    pub fn center(self) -> f64 {
        self.start.midpoint(self.end)
    }

    /// Returns the relative position of a value, `0.0` at the start and `1.0` at the end.
    pub fn fraction(self, value: f64) -> f64 {
        (value - self.start) / self.len()
    }

    /// Returns the value at a fraction of the length.
    pub fn at(self, fraction: f64) -> f64 {
        self.start + fraction * self.len()
    }

    /// Returns true if this range contains all of another one.
    pub fn covers(self, other: Self) -> bool {
        self.start <= other.start && self.end >= other.end
    }

    /// Returns true if the two ranges share more than an edge.
    pub fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// Returns the common part of the two ranges, an empty range if there is none.
    pub fn intersection(self, other: Self) -> Self {
        let start = self.start.max(other.start);
        Self::new(start, self.end.min(other.end).max(start))
    }

    pub fn moved(self, by: f64) -> Self {
        Self::new(self.start + by, self.end + by)
    }

    /// Multiplies the length by a factor; `anchor` keeps its place on the screen.
    pub fn scaled(self, anchor: f64, factor: f64) -> Self {
        Self::new(anchor - (anchor - self.start) * factor, anchor + (self.end - anchor) * factor)
    }

    /// Extends the range on both sides by a share of its length.
    pub fn grown(self, share: f64) -> Self {
        let by = self.len() * share;
        Self::new(self.start - by, self.end + by)
    }

    /// Returns the nearest range inside `limit` that is at least `min_len` long, or all of `limit` if that is shorter.
    ///
    /// The length is kept if possible, so that panning against the end does not zoom.
    pub fn confined(self, limit: Self, min_len: f64) -> Self {
        let len = self.len().max(min_len).min(limit.len());
        // Growing to the minimum keeps the centre, so that zooming in at the minimum does not drift.
        let start = if self.len() < min_len { self.center() - len / 2.0 } else { self.start };
        let start = start.clamp(limit.start, (limit.end - len).max(limit.start));
        Self::new(start, start + len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Span = Span { start: 0.0, end: 100.0 };

    #[test]
    fn scaling_keeps_the_anchor_in_place() {
        let before = Span::new(20.0, 60.0);
        let after = before.scaled(30.0, 0.5);
        assert_eq!(after, Span::new(25.0, 45.0));
        assert_eq!(before.fraction(30.0), after.fraction(30.0));
    }

    #[test]
    fn confining_moves_before_it_shrinks() {
        assert_eq!(Span::new(-10.0, 30.0).confined(LIMIT, 1.0), Span::new(0.0, 40.0));
        assert_eq!(Span::new(90.0, 110.0).confined(LIMIT, 1.0), Span::new(80.0, 100.0));
        assert_eq!(Span::new(-50.0, 500.0).confined(LIMIT, 1.0), LIMIT);
        assert_eq!(Span::new(50.0, 50.5).confined(LIMIT, 2.0), Span::new(49.25, 51.25));
    }

    #[test]
    fn a_minimum_beyond_the_limit_gives_the_limit() {
        assert_eq!(Span::new(0.0, 1.0).confined(Span::new(0.0, 2.0), 4.0), Span::new(0.0, 2.0));
    }

    #[test]
    fn intersections_are_never_negative() {
        assert_eq!(Span::new(0.0, 5.0).intersection(Span::new(3.0, 9.0)), Span::new(3.0, 5.0));
        assert!(Span::new(0.0, 1.0).intersection(Span::new(3.0, 9.0)).is_empty());
        assert!(!Span::new(0.0, 1.0).overlaps(Span::new(1.0, 2.0)));
    }
}
