//! Minimap of the whole trace: its chart, and the window that shows and moves the view.

use crate::ask::OutlineStep;
use crate::draw::chart::{Axis, Chart, Curve, Labels, Room, steps};
use crate::draw::{Font, Span, Theme};

/// Distance from an edge of the window within which the pointer grabs that edge, in CSS pixels.
const GRIP: f64 = 6.0;

/// Minimum width of the drawn window, in CSS pixels.
const MIN_WINDOW: f64 = 6.0;

/// Part of the window that a pointer drags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    Start,
    End,
    Window,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Minimap {
    pub width: f64,
    pub whole: Span,
}

impl Minimap {
    pub fn position_from_x(&self, x: f64) -> f64 {
        self.whole.at(x / self.width)
    }

    /// Returns the window in CSS pixels, widened enough to be seen and dragged.
    pub fn window(&self, view: Span) -> Span {
        let (start, end) = (self.whole.fraction(view.start) * self.width, self.whole.fraction(view.end) * self.width);
        Span::new(start, end).confined(Span::new(0.0, self.width), MIN_WINDOW)
    }

    /// Returns the part that a pointer at `x` would drag; `None` outside the window.
    pub fn hold_at(&self, x: f64, view: Span) -> Option<Hold> {
        let window = self.window(view);
        let near = |edge: f64| (x - edge).abs() <= GRIP;
        // Inside a narrow window its edges can't be told apart, so a pointer there drags the window; edges are dragged
        // from outside.
        let is_inside = (window.start..=window.end).contains(&x) && window.len() < GRIP * 3.0;
        match (near(window.start), near(window.end)) {
            _ if is_inside => Some(Hold::Window),
            (true, _) => Some(Hold::Start),
            (_, true) => Some(Hold::End),
            _ => (window.start..=window.end).contains(&x).then_some(Hold::Window),
        }
    }

    /// Returns the view after a drag by `dx` CSS pixels, given the view at the start of the drag.
    pub fn dragged(&self, hold: Hold, view: Span, dx: f64) -> Span {
        let by = dx / self.width * self.whole.len();
        match hold {
            Hold::Window => view.moved(by),
            Hold::Start => Span::new((view.start + by).clamp(self.whole.start, view.end), view.end),
            Hold::End => Span::new(view.start, (view.end + by).clamp(view.start, self.whole.end)),
        }
    }
}

/// Returns the chart of the live bytes, as an area, and of the reserved bytes over the whole trace.
pub fn outline(live: &[OutlineStep], reserved: &[OutlineStep], theme: &Theme) -> Chart {
    let top = live.iter().chain(reserved).map(|step| step.bytes).fold(1.0, f64::max) * 1.08;
    let corners = |outline: &[OutlineStep]| steps(outline.iter().map(|step| (f64::from(step.x), step.bytes)), 1.0);
    let live = Curve {
        area: Some(theme.live.with_alpha(0.22)),
        ..Curve::line(corners(live), theme.live.with_alpha(0.5), 1.0)
    };
    Chart {
        x: Axis::bare(),
        y: Axis { range: Span::new(0.0, top), labels: Labels::None },
        room: Room::default(),
        font: Font::LABEL,
        curves: vec![live, Curve::line(corners(reserved), theme.reserved, 1.0)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINIMAP: Minimap = Minimap { width: 1000.0, whole: Span { start: 0.0, end: 50_000.0 } };

    #[test]
    fn the_window_is_where_the_view_is_and_can_be_seen() {
        assert_eq!(MINIMAP.window(Span::new(5_000.0, 10_000.0)), Span::new(100.0, 200.0));
        assert_eq!(MINIMAP.position_from_x(100.0), 5_000.0);
        let window = MINIMAP.window(Span::new(49_999.0, 50_000.0));
        assert!((window.len() - MIN_WINDOW).abs() < 1e-9 && window.end <= 1000.0);
    }

    #[test]
    fn edges_and_middle_are_told_apart_and_dragged() {
        let view = Span::new(5_000.0, 10_000.0);
        assert_eq!(MINIMAP.hold_at(97.0, view), Some(Hold::Start));
        assert_eq!(MINIMAP.hold_at(202.0, view), Some(Hold::End));
        assert_eq!(MINIMAP.hold_at(150.0, view), Some(Hold::Window));
        assert_eq!(MINIMAP.hold_at(300.0, view), None);
        assert_eq!(MINIMAP.hold_at(250.0, Span::new(12_500.0, 12_501.0)), Some(Hold::Window));
        let view = Span::new(5_000.0, 10_000.0);
        assert_eq!(MINIMAP.dragged(Hold::Window, view, 10.0), Span::new(5_500.0, 10_500.0));
        assert_eq!(MINIMAP.dragged(Hold::Start, view, 500.0), Span::new(10_000.0, 10_000.0));
        assert_eq!(MINIMAP.dragged(Hold::End, view, 5000.0), Span::new(5_000.0, 50_000.0));
    }

    #[test]
    fn the_outline_reaches_from_edge_to_edge() {
        let step = |x, bytes| OutlineStep { x, bytes };
        let theme = Theme::light();
        let chart = outline(&[step(0.0, 5.0), step(0.5, 7.0)], &[step(0.0, 9.0)], &theme);
        assert_eq!(chart.curves[0].points, [(0.0, 5.0), (0.5, 5.0), (0.5, 7.0), (1.0, 7.0)]);
        assert_eq!(chart.curves[1].points, [(0.0, 9.0), (1.0, 9.0)]);
        let plotted = chart.plotted((1000.0, 40.0), &theme);
        assert_eq!((plotted.plot.width, plotted.plot.height), (1000.0, 40.0));
        assert!(plotted.at((0.0, 9.0)).1 > 0.0, "the highest bytes are below the top");
    }
}
