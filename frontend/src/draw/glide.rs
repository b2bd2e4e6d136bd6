//! Animated move from one view to another that the eye can follow.

use super::camera::View;
use super::span::Span;

/// Duration of a glide, in milliseconds.
pub const GLIDE_MS: f64 = 260.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glide {
    from: View,
    to: View,
    start_ms: f64,
}

impl Glide {
    pub fn new(from: View, to: View, start_ms: f64) -> Self {
        Self { from, to, start_ms }
    }

    /// Returns the view at the end of the movement.
    pub fn target(&self) -> View {
        self.to
    }

    /// Returns the view at a time, or `None` once the movement is over.
    pub fn at(&self, now_ms: f64) -> Option<View> {
        let elapsed = ((now_ms - self.start_ms) / GLIDE_MS).max(0.0);
        (elapsed < 1.0).then(|| {
            let eased = 1.0 - (1.0 - elapsed).powi(3);
            View { x: between(self.from.x, self.to.x, eased), y: between(self.from.y, self.to.y, eased) }
        })
    }
}

/// Returns the range after a share of the way, from 0 to 1.
///
/// A zoom looks even if the length changes by equal factors in equal times. The point that both ranges show at the same
/// place stays there, so the movement is a zoom about that point.
fn between(from: Span, to: Span, share: f64) -> Span {
    let growth = to.len() - from.len();
    if growth.abs() <= 1e-9 * from.len() {
        return from.moved((to.start - from.start) * share);
    }
    let fixed = (from.start * to.len() - to.start * from.len()) / growth;
    from.scaled(fixed, (to.len() / from.len()).powf(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(x0: f64, x1: f64) -> View {
        View { x: Span::new(x0, x1), y: Span::new(0.0, 1.0) }
    }

    #[track_caller]
    fn check_ends(from: View, to: View) {
        let near = |a: Span, b: Span| (a.start - b.start).abs() < 1e-6 && (a.end - b.end).abs() < 1e-6;
        assert!(near(between(from.x, to.x, 0.0), from.x), "start of {from:?} to {to:?}");
        assert!(near(between(from.x, to.x, 1.0), to.x), "end of {from:?} to {to:?}");
    }

    #[test]
    fn a_glide_meets_both_ends() {
        check_ends(view(0.0, 100.0), view(40.0, 50.0));
        check_ends(view(40.0, 50.0), view(0.0, 100.0));
        check_ends(view(0.0, 10.0), view(40.0, 50.0));
        check_ends(view(0.0, 10.0), view(0.0, 10.0));
    }

    #[test]
    fn it_is_over_after_its_time() {
        let glide = Glide::new(view(0.0, 100.0), view(40.0, 50.0), 1000.0);
        assert_eq!(glide.at(1000.0).map(|v| v.x), Some(Span::new(0.0, 100.0)));
        assert!(glide.at(1000.0 + GLIDE_MS).is_none());
    }

    #[test]
    fn lengths_change_by_equal_factors() {
        let half = between(Span::new(0.0, 100.0), Span::new(0.0, 1.0), 0.5);
        assert!((half.len() - 10.0).abs() < 1e-9);
    }
}
