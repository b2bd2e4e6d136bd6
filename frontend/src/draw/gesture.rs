//! Gestures of one or two pointers on an element.
//!
//! Pointers are given in the page's viewport, because an element may move below a pointer that rests: what appears above
//! it must not make a drag of a click.

use super::rect::Rect;

/// Distance below which a moved pointer still counts as a click, in CSS pixels.
const SLACK: f64 = 4.0;

/// Distance of two fingers along an axis below which that axis is not stretched, in CSS pixels.
const PINCH_MIN: f64 = 40.0;

pub use super::op::Point;

/// Outcome of a pointer event, in the coordinates of the pointers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// The content follows the pointer by this distance in x and y.
    Pan(f64, f64),
    /// The content is stretched about the point midway between the fingers; factors above 1 show less of it.
    Pinch { about: Point, x: f64, y: f64 },
    /// A selection box is being dragged open.
    Select(Rect),
    /// The selection box between these corners is complete.
    Selected(Point, Point),
    /// A press and release at one point.
    Click(Point),
}

impl Effect {
    /// Returns the effect in the coordinates of an element whose origin lies at `corner`.
    pub fn within(self, corner: Point) -> Self {
        let inside = |at: Point| (at.0 - corner.0, at.1 - corner.1);
        match self {
            Self::Pan(..) => self,
            Self::Pinch { about, x, y } => Self::Pinch { about: inside(about), x, y },
            Self::Select(rect) => {
                let (x, y) = inside((rect.x, rect.y));
                Self::Select(Rect { x, y, ..rect })
            }
            Self::Selected(from, to) => Self::Selected(inside(from), inside(to)),
            Self::Click(at) => Self::Click(inside(at)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    /// Pressed, but not moved far enough for a drag.
    Pressed,
    Panning,
    Selecting,
    Pinching,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Pointer {
    id: i32,
    at: Point,
}

/// The pointers that are down, and their current gesture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gesture {
    pointers: Vec<Pointer>,
    start: Point,
    selects: bool,
    mode: Option<Mode>,
}

impl Gesture {
    /// Returns true while the content is being moved or a selection box is open.
    pub fn is_active(&self) -> bool {
        self.mode.is_some_and(|mode| mode != Mode::Pressed)
    }

    /// Handles a pointer that goes down; `selects` makes a drag open a selection box.
    pub fn press(&mut self, id: i32, at: Point, selects: bool) {
        if self.pointers.len() == 2 {
            return;
        }
        self.pointers.retain(|pointer| pointer.id != id);
        self.pointers.push(Pointer { id, at });
        if self.pointers.len() == 2 {
            self.mode = Some(Mode::Pinching);
        } else {
            (self.start, self.selects, self.mode) = (at, selects, Some(Mode::Pressed));
        }
    }

    pub fn drag(&mut self, id: i32, to: Point) -> Option<Effect> {
        let before = self.pointers.clone();
        let pointer = self.pointers.iter_mut().find(|pointer| pointer.id == id)?;
        let from = std::mem::replace(&mut pointer.at, to);
        match self.mode? {
            Mode::Pressed if distance(self.start, to) < SLACK => {
                // The slack is made up for when the drag starts, so that the content does not lag behind the pointer.
                pointer.at = from;
                None
            }
            Mode::Pressed => {
                self.mode = Some(if self.selects { Mode::Selecting } else { Mode::Panning });
                Some(self.moved(from, to))
            }
            Mode::Panning | Mode::Selecting => Some(self.moved(from, to)),
            Mode::Pinching => pinch(&before, &self.pointers),
        }
    }

    pub fn release(&mut self, id: i32, at: Point) -> Option<Effect> {
        let mode = self.mode.filter(|_| self.pointers.iter().any(|pointer| pointer.id == id))?;
        self.pointers.retain(|pointer| pointer.id != id);
        // After a pinch the remaining finger goes on panning; it must not click when it is lifted.
        self.mode = (!self.pointers.is_empty()).then_some(Mode::Panning);
        match mode {
            Mode::Pressed => Some(Effect::Click(at)),
            Mode::Selecting => Some(Effect::Selected(self.start, at)),
            Mode::Panning | Mode::Pinching => None,
        }
    }

    /// Ends the gesture when the browser takes the pointers away.
    pub fn cancel(&mut self) {
        *self = Self::default();
    }

    fn moved(&self, from: Point, to: Point) -> Effect {
        match self.mode {
            Some(Mode::Selecting) => Effect::Select(rect_between(self.start, to)),
            _ => Effect::Pan(to.0 - from.0, to.1 - from.1),
        }
    }
}

fn pinch(before: &[Pointer], after: &[Pointer]) -> Option<Effect> {
    let ([a0, b0], [a1, b1]) = (before, after) else { return None };
    let factor = |before: f64, after: f64| {
        let far_enough = before.abs() >= PINCH_MIN && after.abs() >= PINCH_MIN;
        if far_enough { (after / before).abs() } else { 1.0 }
    };
    Some(Effect::Pinch {
        about: (a1.at.0.midpoint(b1.at.0), a1.at.1.midpoint(b1.at.1)),
        x: factor(b0.at.0 - a0.at.0, b1.at.0 - a1.at.0),
        y: factor(b0.at.1 - a0.at.1, b1.at.1 - a1.at.1),
    })
}

/// Returns the rectangle between two corners in any order.
fn rect_between((ax, ay): Point, (bx, by): Point) -> Rect {
    Rect { x: ax.min(bx), y: ay.min(by), width: (ax - bx).abs(), height: (ay - by).abs() }
}

fn distance(a: Point, b: Point) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

/// Returns the factor by which a turn of the wheel multiplies the visible range.
///
/// `delta` is in CSS pixels; a notch of a common mouse is 100 to 120. One event counts for at most four notches,
/// because some devices send hundreds at once.
pub fn wheel_factor(delta: f64) -> f64 {
    (delta.clamp(-480.0, 480.0) * 0.0018).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_press_that_hardly_moves_is_a_click() {
        let mut gesture = Gesture::default();
        gesture.press(1, (10.0, 10.0), false);
        assert_eq!(gesture.drag(1, (12.0, 11.0)), None);
        assert!(!gesture.is_active());
        assert_eq!(gesture.release(1, (12.0, 11.0)), Some(Effect::Click((12.0, 11.0))));
        assert_eq!(gesture, Gesture { start: (10.0, 10.0), ..Gesture::default() });
    }

    #[test]
    fn a_drag_pans_by_all_of_the_way() {
        let mut gesture = Gesture::default();
        gesture.press(1, (10.0, 10.0), false);
        gesture.drag(1, (12.0, 10.0));
        assert_eq!(gesture.drag(1, (20.0, 10.0)), Some(Effect::Pan(10.0, 0.0)));
        assert_eq!(gesture.drag(1, (21.0, 14.0)), Some(Effect::Pan(1.0, 4.0)));
        assert_eq!(gesture.release(1, (21.0, 14.0)), None);
        assert_eq!(gesture.drag(1, (50.0, 50.0)), None);
    }

    #[test]
    fn a_selecting_drag_opens_a_box_to_any_side() {
        let mut gesture = Gesture::default();
        gesture.press(1, (50.0, 50.0), true);
        let rect = Rect { x: 20.0, y: 50.0, width: 30.0, height: 10.0 };
        assert_eq!(gesture.drag(1, (20.0, 60.0)), Some(Effect::Select(rect)));
        assert_eq!(gesture.release(1, (20.0, 60.0)), Some(Effect::Selected((50.0, 50.0), (20.0, 60.0))));
    }

    #[test]
    fn two_fingers_stretch_the_axis_that_they_span() {
        let mut gesture = Gesture::default();
        gesture.press(1, (100.0, 100.0), false);
        gesture.press(2, (200.0, 110.0), false);
        assert_eq!(gesture.drag(2, (300.0, 110.0)), Some(Effect::Pinch { about: (200.0, 105.0), x: 2.0, y: 1.0 }));
        assert_eq!(gesture.release(1, (100.0, 100.0)), None);
        assert_eq!(gesture.drag(2, (310.0, 110.0)), Some(Effect::Pan(10.0, 0.0)));
        assert_eq!(gesture.release(2, (310.0, 110.0)), None);
    }

    #[test]
    fn the_wheel_is_symmetric_and_bounded() {
        assert!((wheel_factor(120.0) * wheel_factor(-120.0) - 1.0).abs() < 1e-12);
        assert_eq!(wheel_factor(1e9), wheel_factor(480.0));
    }
}
