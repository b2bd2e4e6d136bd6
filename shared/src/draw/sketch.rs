//! Defines a drawing with its size.

use crate::draw::{Align, Font, Op, Rect, Theme};

/// Height of the title's line above stacked sketches, in CSS pixels.
const HEAD: f64 = 30.0;

/// Drawing of one element or file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sketch {
    /// Operations in CSS pixels, the lowest one first.
    pub ops: Vec<Op>,
    pub width: f64,
    pub height: f64,
}

impl Sketch {
    /// Creates a drawing of nothing but its background.
    pub fn blank(width: f64, height: f64, theme: &Theme) -> Self {
        let rect = Rect::new(0.0, 0.0, width, height);
        Self { ops: vec![Op::Fill { rect, radius: 0.0, color: theme.background }], width, height }
    }

    /// Puts sketches below each other, below a title, on the theme's background.
    pub fn stacked<'a>(title: &str, sketches: impl Iterator<Item = &'a Self> + Clone, theme: &Theme) -> Self {
        let width = sketches.clone().map(|sketch| sketch.width).fold(1.0, f64::max);
        let height = HEAD + sketches.clone().map(|sketch| sketch.height).sum::<f64>();
        let mut whole = Self::blank(width, height, theme);
        whole.ops.push(Op::text((12.0, HEAD / 2.0), title, Align::Left, Font::strong(13.0), theme.text));
        let mut top = HEAD;
        for sketch in sketches {
            whole.add(sketch, top);
            top += sketch.height;
        }
        whole
    }

    /// Draws another sketch at a distance from the top; what is outside of its size is cut off.
    fn add(&mut self, sketch: &Self, top: f64) {
        let open = sketch.ops.iter().fold(0_usize, |open, op| match op {
            Op::Clip(_) => open + 1,
            Op::Unclip => open.saturating_sub(1),
            _ => open,
        });
        self.ops.push(Op::Clip(Rect::new(0.0, top, sketch.width, sketch.height)));
        self.ops.extend(sketch.ops.iter().cloned().map(|op| op.lowered(top)));
        // What the sketch leaves clipped must not clip the next one.
        self.ops.extend(std::iter::repeat_n(Op::Unclip, open + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Color;

    #[test]
    fn sketches_stand_below_each_other() {
        let rect = Rect::new(0.0, 5.0, 10.0, 10.0);
        let fill = |rect| Op::Fill { rect, radius: 0.0, color: Color::new(7) };
        let one = Sketch { ops: vec![Op::Clip(rect), fill(rect)], width: 300.0, height: 100.0 };
        let other = Sketch { ops: vec![fill(rect)], width: 200.0, height: 50.0 };
        let whole = Sketch::stacked("t", [&one, &other].into_iter(), &Theme::light());
        assert_eq!((whole.width, whole.height), (300.0, 180.0));
        assert!(
            whole.ops.contains(&fill(Rect { y: 35.0, ..rect })) && whole.ops.contains(&fill(Rect { y: 135.0, ..rect }))
        );
        let count = |is: fn(&Op) -> bool| whole.ops.iter().filter(|op| is(op)).count();
        assert_eq!(count(|op| matches!(op, Op::Clip(_))), count(|op| matches!(op, Op::Unclip)), "no clip stays open");
    }
}
