//! Markers over the plot for the peak and for out-of-memory errors.

use super::places::Places;
use crate::draw::{Align, Camera, Color, Font, Layout, Op, Rect, Theme, crisp};

/// Distance from a dot to its label, in CSS pixels.
const BESIDE: f64 = 10.0;

const MARGIN: f64 = 3.0;

/// Distance between labels below each other, in CSS pixels.
const LINE: f64 = 15.0;

/// Number of lines, downwards from the dot, that are tried for a label.
const LINES: usize = 4;

#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    pub position: f64,
    pub bytes: f64,
    pub label: String,
    pub kind: MarkerKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerKind {
    Peak,
    Oom,
}

/// Draws the dots and labels of the markers in view; labels stay inside the plot and do not overlap.
pub fn markers(all: &[Marker], camera: &Camera, layout: &Layout, theme: &Theme, places: &mut Places) -> Vec<Op> {
    let plot = layout.plot;
    let mut ops = Vec::new();
    let mut taken_until = f64::NEG_INFINITY;
    for marker in all {
        let (x, y) = (plot.x + camera.x_from_position(marker.position), plot.y + camera.y_from_bytes(marker.bytes));
        let is_peak = marker.kind == MarkerKind::Peak;
        if !(plot.x - 0.5..=plot.right() + 0.5).contains(&x) || (is_peak && !(plot.y..=plot.bottom()).contains(&y)) {
            continue;
        }
        let color = if is_peak { theme.peak } else { theme.oom };
        if !is_peak {
            // Several errors within one pixel column are drawn once.
            if x < taken_until {
                continue;
            }
            taken_until = x + 1.0;
            let (from, to) = ((crisp(x), plot.y), (crisp(x), plot.bottom()));
            ops.push(Op::dashed([from, to], 1.0, color.with_alpha(0.8)));
        }
        let y = if is_peak { y } else { plot.y + 8.0 };
        ops.push(Op::Dot { at: (x, y), radius: if is_peak { 4.0 } else { 3.0 }, color, ring: theme.background });
        ops.extend(label(&marker.label, (x, y), color, theme, places));
    }
    ops
}

/// Returns a label and its background, or nothing if there is no room.
///
/// The background keeps the text readable, because the line of reserved bytes often crosses it.
fn label(text: &str, dot: (f64, f64), color: Color, theme: &Theme, places: &mut Places) -> Vec<Op> {
    let text = Font::STRONG.fitted(text, places.room().width - 2.0 * MARGIN);
    let width = Font::STRONG.width(&text) + 2.0 * MARGIN;
    let Some(rect) = places.take(candidates(width, dot, places.room())) else { return Vec::new() };
    // The text is aligned to the dot's side, so that it stays next to the dot if the browser's letters are narrower
    // than estimated.
    let is_left = rect.right() <= dot.0;
    let (x, align) = if is_left { (rect.right() - MARGIN, Align::Right) } else { (rect.x + MARGIN, Align::Left) };
    let (y, font, halo) = (rect.y + rect.height / 2.0, Font::STRONG, Some(theme.background));
    vec![
        Op::Fill { rect, radius: MARGIN, color: theme.background.with_alpha(0.86) },
        Op::Text { x, y, text, align, font, color, halo },
    ]
}

/// Returns places for a label next to its dot, in order of preference: right before left, upper before lower.
///
/// The last ones are below the dot, for a label wider than the room on either side.
fn candidates(width: f64, (x, y): (f64, f64), plot: Rect) -> impl Iterator<Item = Rect> + use<> {
    let top = (y - 9.0).clamp(plot.y + 8.0, (plot.bottom() - 8.0).max(plot.y + 8.0)) - LINE / 2.0;
    let (right, left) = (x + BESIDE - MARGIN, x - BESIDE + MARGIN - width);
    let across = left.clamp(plot.x, (plot.right() - width).max(plot.x));
    let column = move |x: f64, lines: std::ops::Range<usize>| {
        lines.map(move |line| Rect { x, y: top + line as f64 * LINE, width, height: LINE })
    };
    column(right, 0..LINES).chain(column(left, 0..LINES)).chain(column(across, 2..LINES + 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::timeline::draw::stage::{GIB, stage};

    fn drawn(all: &[Marker], camera: &Camera, layout: &Layout) -> Vec<Op> {
        markers(all, camera, layout, &Theme::light(), &mut Places::new(layout.plot))
    }

    fn texts(ops: &[Op]) -> Vec<Rect> {
        ops.iter().filter_map(Op::text_rect).collect()
    }

    fn peak(position: f64) -> Marker {
        Marker { position, bytes: 74.0 * GIB, label: "peak 74.0 GiB".to_owned(), kind: MarkerKind::Peak }
    }

    fn oom(position: f64) -> Marker {
        let label = "out of memory: 256 MiB asked".to_owned();
        Marker { position, bytes: 0.0, label, kind: MarkerKind::Oom }
    }

    #[test]
    fn the_peak_is_labelled_beside_its_dot() {
        let (camera, layout) = stage(1280.0);
        for position in [0.0, 5e6, 10_000_000.0] {
            let place = texts(&drawn(&[peak(position)], &camera, &layout))[0];
            let x = layout.plot.x + camera.x_from_position(position);
            assert!((place.x - x - BESIDE).abs() < 1.0 || (x - BESIDE - place.right()).abs() < 1.0, "{place:?} of {x}");
        }
    }

    #[test]
    fn labels_of_a_peak_that_ran_out_of_memory_lie_apart() {
        let (camera, layout) = stage(1280.0);
        let places = texts(&drawn(&[peak(10_000_000.0), oom(10_000_000.0)], &camera, &layout));
        assert!(places.len() == 2 && (places[0].y - places[1].y).abs() >= 12.0, "{places:?}");
    }

    #[test]
    fn a_label_wider_than_either_side_is_below_its_dot() {
        let (camera, layout) = stage(320.0);
        let places = texts(&drawn(&[oom(5_000_000.0)], &camera, &layout));
        assert_eq!(places.len(), 1);
        assert!(layout.plot.covers(places[0]) && places[0].y > layout.plot.y + 11.0, "{places:?}");
    }

    #[test]
    fn markers_out_of_view_are_left_out() {
        let (mut camera, layout) = stage(1280.0);
        camera.zoom_x(0.0, 0.01);
        assert!(drawn(&[oom(9e6)], &camera, &layout).is_empty());
        let crowd: Vec<Marker> = (0..10_000).map(|i| oom(f64::from(i) * 1e-3)).collect();
        assert_eq!(drawn(&crowd, &camera, &layout).len(), 4);
    }
}
