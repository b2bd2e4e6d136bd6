//! History of views, for going back, and navigation from step to step by keys.

use super::lane::place_of_part;
use crate::ask::{Axis, Parts};
use crate::draw::{Span, View};

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

/// Minimum overlap, as a share of the view and of the step, for the view to count as showing that step.
const SAME: f64 = 0.9;

pub fn steps_along(parts: &Parts, axis: Axis) -> Vec<Span> {
    parts.steps.iter().map(|step| place_of_part(step, axis)).collect()
}

/// Returns the step that a key leads to.
///
/// From a view of one step, that is the next or the previous one; from any other view, it is the step in the view's
/// middle.
///
/// From the whole of `content`, it is the first step, or backwards the last one.
pub fn step_beside(steps: &[Span], view: Span, content: Span, is_forward: bool) -> Option<Span> {
    let last = steps.len().checked_sub(1)?;
    let around = steps.partition_point(|step| step.end <= view.center()).min(last);
    let next = match (is_same(steps[around], view), is_forward) {
        (true, true) => (around + 1).min(last),
        (true, false) => around.saturating_sub(1),
        (false, true) if view.covers(content) => 0,
        (false, false) if view.covers(content) => last,
        (false, _) => around,
    };
    Some(steps[next])
}

fn is_same(step: Span, view: Span) -> bool {
    let shared = step.intersection(view).len();
    shared >= SAME * step.len() && shared >= SAME * view.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Span;

    fn view(x1: f64) -> View {
        View { x: Span::new(0.0, x1), y: Span::new(0.0, 1.0) }
    }

    #[test]
    fn steps_without_a_pause_are_one_except_after_going_back() {
        let mut history = History::default();
        history.leave(view(100.0), 0.0);
        history.leave(view(90.0), 100.0);
        history.leave(view(80.0), 200.0);
        history.leave(view(50.0), 5000.0);
        assert_eq!(history.back(), Some(view(50.0)));
        assert_eq!(history.back(), Some(view(100.0)));
        assert_eq!(history.back(), None);
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

    const CONTENT: Span = Span { start: 0.0, end: 500.0 };

    /// Checks the steps that keys lead to, given four steps of 100 after a setup of 50. Steps are counted from 1.
    #[track_caller]
    fn check(view: (f64, f64), back: usize, forward: usize) {
        let steps: Vec<Span> =
            (0..4).map(|i| Span::new(50.0 + 100.0 * f64::from(i), 150.0 + 100.0 * f64::from(i))).collect();
        let step = |number: usize| Some(steps[number - 1]);
        let view = Span::new(view.0, view.1);
        assert_eq!(step_beside(&steps, view, CONTENT, false), step(back));
        assert_eq!(step_beside(&steps, view, CONTENT, true), step(forward));
    }

    #[test]
    fn keys_lead_to_the_step_beside_or_in_the_middle() {
        check((0.0, 500.0), 4, 1);
        check((150.0, 250.0), 1, 3);
        check((151.0, 248.0), 1, 3);
        check((50.0, 150.0), 1, 2);
        check((350.0, 450.0), 3, 4);
        check((160.0, 170.0), 2, 2);
        check((0.0, 20.0), 1, 1);
        check((460.0, 490.0), 4, 4);
        check((40.0, 400.0), 2, 2);
    }

    #[test]
    fn no_step_or_one_leads_nowhere() {
        assert_eq!(step_beside(&[], CONTENT, CONTENT, true), None);
        assert_eq!(step_beside(&[CONTENT], CONTENT, CONTENT, true), Some(CONTENT));
    }
}
