//! The memory of a card over the plot, to see how much room is left.

use super::{
    camera::Camera,
    layout::Layout,
    overlay::{Align, Font, Op},
    theme::Theme,
};
use shared::base::format;

/// A dashed line at the card's memory; where that lies above the view, a word about it.
pub fn capacity(capacity_bytes: u64, camera: &Camera, layout: &Layout, theme: &Theme) -> Vec<Op> {
    let (plot, view) = (layout.plot, camera.view().y);
    let bytes = capacity_bytes as f64;
    // At the left: the peak and out-of-memory errors have their labels mostly at the right.
    let label = |text: String, y: f64| Op::Text {
        x: plot.x + 6.0,
        y,
        text,
        align: Align::Left,
        font: Font::Strong,
        color: theme.oom,
        halo: Some(theme.background),
    };
    if bytes > view.end {
        return vec![label(format!("card {} above", format::bytes(capacity_bytes)), plot.y + 9.0)];
    }
    if bytes < view.start {
        return Vec::new();
    }
    let y = plot.y + camera.y_from_bytes(bytes);
    let line = Op::Line { from: (plot.x, y), to: (plot.right(), y), width: 1.5, color: theme.oom, dashed: true };
    // Above the line, or below it where there is no room.
    let text_y = if y - plot.y > 18.0 { y - 9.0 } else { y + 9.0 };
    vec![line, label(format!("card {}", format::bytes(capacity_bytes)), text_y)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::camera::{Content, View};
    use crate::draw::span::Span;

    const GIB: u64 = 1 << 30;

    /// What is drawn of a card over a view of these GiB: the height of the line and the words.
    fn drawn(card_gib: u64, (y0, y1): (u64, u64)) -> (Option<f64>, Option<String>) {
        let layout = Layout::new(800.0, 400.0, 1.0, 0);
        let content = Content { x_end: 100.0, min_len: 2.0, max_bytes: (20 * GIB) as f64 };
        let mut camera = Camera::new(content, layout.plot_size());
        camera.set_view(View { x: Span::new(0.0, 100.0), y: Span::new((y0 * GIB) as f64, (y1 * GIB) as f64) });
        let ops = capacity(card_gib * GIB, &camera, &layout, &Theme::light());
        let line = ops.iter().find_map(|op| match op {
            Op::Line { from, to, .. } => (from.1 == to.1).then_some(from.1 - layout.plot.y),
            _ => None,
        });
        let text = ops.iter().find_map(|op| match op {
            Op::Text { text, .. } => Some(text.clone()),
            _ => None,
        });
        (line, text)
    }

    #[test]
    fn a_card_in_view_is_a_line_and_one_above_a_word() {
        let (line, text) = drawn(10, (0, 20));
        assert!(line.is_some_and(|y| y > 0.0), "{line:?}");
        assert_eq!(text.as_deref(), Some("card 10.0 GiB"));
        assert_eq!(drawn(80, (0, 20)), (None, Some("card 80.0 GiB above".to_owned())));
        assert_eq!(drawn(2, (5, 10)), (None, None));
    }
}
