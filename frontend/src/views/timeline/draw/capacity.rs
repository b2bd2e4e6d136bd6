//! Line of a card's memory over the plot, which shows how much room is left.

use super::places::Places;
use crate::draw::{Align, Camera, Font, Layout, Op, Rect, Theme};
use shared::base::format;

const MARGIN: f64 = 2.0;

/// Returns a dashed line at the card's memory, or only a label if that is above the view.
pub fn capacity(capacity_bytes: u64, camera: &Camera, layout: &Layout, theme: &Theme, places: &mut Places) -> Vec<Op> {
    let (plot, view) = (layout.plot, camera.view().y);
    let bytes = capacity_bytes as f64;
    let name = format!("GPU memory {}", format::bytes(capacity_bytes));
    if bytes > view.end {
        let text = format!("{name} above");
        return labelled(places.take_text(labels(&text, &[plot.y + 9.0], plot, theme)), theme);
    }
    if bytes < view.start {
        return Vec::new();
    }
    let y = plot.y + camera.y_from_bytes(bytes);
    let line = Op::dashed([(plot.x, y), (plot.right(), y)], 1.5, theme.oom);
    // The label goes above the line, or below it if there is no room above.
    let text = places.take_text(labels(&name, &[y - 9.0, y + 9.0], plot, theme));
    [line].into_iter().chain(labelled(text, theme)).collect()
}

/// Returns a text over a background, because bands and dashed lines often cross it.
fn labelled(text: Option<Op>, theme: &Theme) -> Vec<Op> {
    let rect = text.as_ref().and_then(Op::text_rect).map(|rect| Rect {
        x: rect.x - MARGIN,
        y: rect.y - MARGIN,
        width: rect.width + 2.0 * MARGIN,
        height: rect.height + 2.0 * MARGIN,
    });
    let ground = rect.map(|rect| Op::Fill { rect, radius: MARGIN, color: theme.background.with_alpha(0.86) });
    ground.into_iter().chain(text).collect()
}

/// Returns the label's places in order of preference: all heights at the left end, then at the right end.
///
/// The labels of the peak and of errors are mostly at the right.
fn labels(text: &str, heights: &[f64], plot: Rect, theme: &Theme) -> Vec<Op> {
    let (font, color, halo) = (Font::STRONG, theme.oom, Some(theme.background));
    let ends = [(plot.x + 6.0, Align::Left), (plot.right() - 6.0, Align::Right)];
    let at = |&(x, align): &(f64, Align), &y: &f64| Op::Text { x, y, text: text.to_owned(), align, font, color, halo };
    ends.iter().flat_map(|end| heights.iter().map(move |y| at(end, y))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::{Content, Span, View};

    const GIB: u64 = 1 << 30;

    /// Draws a card over a view given in GiB, and returns the height of the line and the label.
    fn drawn(card_gib: u64, (y0, y1): (u64, u64)) -> (Option<f64>, Option<String>) {
        let layout = Layout::new(800.0, 400.0, 1.0, 0);
        let content = Content { x_end: 100.0, min_len: 2.0, max_bytes: (20 * GIB) as f64 };
        let mut camera = Camera::new(content, layout.plot_size());
        camera.set_view(View { x: Span::new(0.0, 100.0), y: Span::new((y0 * GIB) as f64, (y1 * GIB) as f64) });
        let mut places = Places::new(layout.plot);
        let ops = capacity(card_gib * GIB, &camera, &layout, &Theme::light(), &mut places);
        let line = ops.iter().find_map(|op| match op {
            Op::Line { points, .. } => (points[0].1 == points[1].1).then_some(points[0].1 - layout.plot.y),
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
        assert_eq!(text.as_deref(), Some("GPU memory 10.0 GiB"));
        assert_eq!(drawn(80, (0, 20)), (None, Some("GPU memory 80.0 GiB above".to_owned())));
        assert_eq!(drawn(2, (5, 10)), (None, None));
    }
}
