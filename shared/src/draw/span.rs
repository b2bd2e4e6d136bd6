//! A range along one axis and what a camera does to it.

/// A half-open range along one axis, in the units of the axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// Lower end.
    pub start: f64,
    /// Upper end.
    pub end: f64,
}

impl Span {
    /// The range between two numbers.
    pub fn new(start: f64, end: f64) -> Self {
        Self { start, end }
    }

    /// The range of this length around a centre.
    pub fn around(center: f64, len: f64) -> Self {
        Self::new(center - len / 2.0, center + len / 2.0)
    }

    /// Its length.
    pub fn len(self) -> f64 {
        self.end - self.start
    }

    /// Whether it has no length.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// The point halfway.
    pub fn center(self) -> f64 {
        self.start.midpoint(self.end)
    }

    /// Where a value lies, `0.0` at the start and `1.0` at the end.
    pub fn fraction(self, value: f64) -> f64 {
        (value - self.start) / self.len()
    }

    /// The value at a fraction of the length.
    pub fn at(self, fraction: f64) -> f64 {
        self.start + fraction * self.len()
    }

    /// Whether it holds all of another one.
    pub fn covers(self, other: Self) -> bool {
        self.start <= other.start && self.end >= other.end
    }

    /// Whether the two have more than an edge in common.
    pub fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// What the two have in common, empty if nothing.
    pub fn intersection(self, other: Self) -> Self {
        let start = self.start.max(other.start);
        Self::new(start, self.end.min(other.end).max(start))
    }

    /// The range moved by a distance.
    pub fn moved(self, by: f64) -> Self {
        Self::new(self.start + by, self.end + by)
    }

    /// The range with its length multiplied, `anchor` staying where it is on screen.
    pub fn scaled(self, anchor: f64, factor: f64) -> Self {
        Self::new(anchor - (anchor - self.start) * factor, anchor + (self.end - anchor) * factor)
    }

    /// The range grown on both sides by a share of its length.
    pub fn grown(self, share: f64) -> Self {
        let by = self.len() * share;
        Self::new(self.start - by, self.end + by)
    }

    /// The nearest range inside `limit` that is at least `min_len` long.
    ///
    /// The length is kept where it can be, so that panning against the end does not zoom.
    pub fn confined(self, limit: Self, min_len: f64) -> Self {
        let len = self.len().max(min_len).min(limit.len());
        // Growing to the minimum keeps the centre: zooming in at the limit must not drift.
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
