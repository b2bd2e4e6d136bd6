//! Moments that the user marked: bookmarks, the chosen event, and the two ends of a measurement.

use super::places::Places;
use crate::draw::{Align, Camera, Font, Layout, Op, Rect, Theme, crisp};

const HEIGHT: f64 = 15.0;

const MARGIN: f64 = 4.0;

const MOST_WIDTH: f64 = 180.0;

/// Number of rows from the bottom of the plot that are tried for a label.
const ROWS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagKind {
    Bookmark,
    Event,
    Measure,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    pub moment: u32,
    pub label: String,
    pub kind: FlagKind,
}

/// Marked moment with its position on the x axis.
pub type Placed = (f64, Flag);

/// Draws a line and a label for each flag in view, and shades what is measured.
pub fn flags(all: &[Placed], camera: &Camera, layout: &Layout, theme: &Theme, places: &mut Places) -> Vec<Op> {
    let plot = layout.plot;
    let x_of = |position: f64| plot.x + camera.x_from_position(position);
    let ends: Vec<f64> = all.iter().filter(|(_, flag)| flag.kind == FlagKind::Measure).map(|end| x_of(end.0)).collect();
    let mut ops = Vec::new();
    if let [from, to] = ends[..] {
        let (left, right) = (from.max(plot.x), to.min(plot.right()));
        if left < right {
            let rect = Rect { x: left, y: plot.y, width: right - left, height: plot.height };
            ops.push(Op::Fill { rect, radius: 0.0, color: theme.accent.with_alpha(0.10) });
        }
    }
    for (position, flag) in all {
        let x = x_of(*position);
        if (plot.x..=plot.right()).contains(&x) {
            ops.extend(one(x, flag, plot, theme, places));
        }
    }
    ops
}

fn one(x: f64, flag: &Flag, plot: Rect, theme: &Theme, places: &mut Places) -> Vec<Op> {
    let ends = [(crisp(x), plot.y), (crisp(x), plot.bottom())];
    let color = theme.accent;
    let line = match flag.kind {
        FlagKind::Event => Op::dashed(ends, 1.0, color),
        FlagKind::Bookmark | FlagKind::Measure => Op::line(ends, 1.0, color),
    };
    let text = Font::STRONG.fitted(&flag.label, MOST_WIDTH);
    let width = Font::STRONG.width(&text) + 2.0 * MARGIN;
    let row = |row: usize| plot.bottom() - (row + 1) as f64 * (HEIGHT + 1.0);
    let sides = [x, x - width];
    let candidates = (0..ROWS).flat_map(|at| sides.map(|x| Rect { x, y: row(at), width, height: HEIGHT }));
    let label = places.take(candidates).filter(|_| !text.is_empty());
    let label = label.into_iter().flat_map(|rect| {
        let (x, y) = (rect.x + MARGIN, rect.y + rect.height / 2.0);
        let text = Op::text((x, y), text.clone(), Align::Left, Font::STRONG, theme.background);
        [Op::Fill { rect, radius: 3.0, color }, text]
    });
    [line].into_iter().chain(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::timeline::draw::stage::stage;

    fn flag(kind: FlagKind, label: &str) -> Flag {
        Flag { moment: 0, label: label.to_owned(), kind }
    }

    fn drawn(all: &[Placed]) -> Vec<Op> {
        let (camera, layout) = stage(1280.0);
        flags(all, &camera, &layout, &Theme::light(), &mut Places::new(layout.plot))
    }

    #[test]
    fn a_bookmark_is_a_line_with_its_note() {
        let ops = drawn(&[(5e6, flag(FlagKind::Bookmark, "leak begins"))]);
        assert!(matches!(&ops[..], [Op::Line { .. }, Op::Fill { .. }, Op::Text { text, .. }] if text == "leak begins"));
        assert!(drawn(&[(2e7, flag(FlagKind::Bookmark, "beyond the end"))]).is_empty());
    }

    #[test]
    fn what_is_measured_is_shaded() {
        let ends = [(1e6, flag(FlagKind::Measure, "A")), (2e6, flag(FlagKind::Measure, "B"))];
        let (camera, _) = stage(1280.0);
        let width = camera.x_from_position(2e6) - camera.x_from_position(1e6);
        assert!(matches!(drawn(&ends)[0], Op::Fill { rect, .. } if (rect.width - width).abs() < 0.5));
        assert!(matches!(drawn(&ends[..1])[0], Op::Line { .. }), "one end measures nothing");
    }

    #[test]
    fn labels_of_one_place_lie_above_each_other() {
        let all: Vec<_> = (0..3).map(|_| (5e6, flag(FlagKind::Bookmark, "here"))).collect();
        let labels: Vec<Rect> = drawn(&all)
            .into_iter()
            .filter_map(|op| if let Op::Fill { rect, .. } = op { Some(rect) } else { None })
            .collect();
        assert!(labels.len() == 3 && !labels[0].overlaps(labels[1]) && !labels[1].overlaps(labels[2]), "{labels:?}");
    }
}
