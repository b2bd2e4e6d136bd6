//! History of views, for going back.

use crate::draw::camera::View;

/// Maximum number of stored views.
const CAPACITY: usize = 64;

/// Views to go back to, the latest last.
///
/// A turn of the wheel or a drag consists of many small steps, which count as one if no pause separates them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    views: Vec<View>,
    touched_ms: f64,
}

/// Length of a pause that starts a new step, in milliseconds.
const PAUSE_MS: f64 = 600.0;

impl History {
    /// Records the view that is about to be left.
    pub fn leave(&mut self, view: View, now_ms: f64) {
        let is_new_step = self.views.is_empty() || now_ms - self.touched_ms > PAUSE_MS;
        self.touched_ms = now_ms;
        if is_new_step && self.views.last() != Some(&view) {
            if self.views.len() == CAPACITY {
                self.views.remove(0);
            }
            self.views.push(view);
        }
    }

    /// Removes and returns the view to go back to.
    pub fn back(&mut self) -> Option<View> {
        self.touched_ms = f64::NEG_INFINITY;
        self.views.pop()
    }

    pub fn is_empty(&self) -> bool {
        self.views.is_empty()
    }

    /// Removes all views, for example when the unit of the axis changes.
    pub fn clear(&mut self) {
        self.views.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::span::Span;

    fn view(x1: f64) -> View {
        View { x: Span::new(0.0, x1), y: Span::new(0.0, 1.0) }
    }

    #[test]
    fn steps_without_a_pause_are_one() {
        let mut history = History::default();
        history.leave(view(100.0), 0.0);
        history.leave(view(90.0), 100.0);
        history.leave(view(80.0), 200.0);
        history.leave(view(50.0), 5000.0);
        assert_eq!(history.back(), Some(view(50.0)));
        assert_eq!(history.back(), Some(view(100.0)));
        assert_eq!(history.back(), None);
    }

    #[test]
    fn a_step_right_after_going_back_counts() {
        let mut history = History::default();
        history.leave(view(100.0), 0.0);
        history.back();
        history.leave(view(70.0), 10.0);
        assert_eq!(history.back(), Some(view(70.0)));
    }

    #[test]
    fn it_does_not_grow_for_ever() {
        let mut history = History::default();
        (0..1000).for_each(|i| history.leave(view(f64::from(i)), f64::from(i) * 1e4));
        assert_eq!(history.views.len(), CAPACITY);
        assert_eq!(history.back(), Some(view(999.0)));
    }
}
