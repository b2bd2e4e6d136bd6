//! Flame graph as drawing operations, whose number depends on the pixels in view and not on the nodes.

use super::camera::FlameCamera;
use super::rows::{FlameKind, FlameLabel, FlameRows};
use crate::draw::{Color, HUES, Op, Rect, Theme};
use shared::draw::flame::{box_label, box_rect};

/// Width below which boxes are drawn together, in CSS pixels.
const NARROW: f64 = 1.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlameMarks {
    pub hovered: Option<u32>,
    pub chosen: Option<u32>,
    /// Label of the boxes whose allocations are selected.
    pub kind: Option<u32>,
    /// True while a search is active, which fades boxes that do not match.
    pub is_searched: bool,
}

pub fn flame(rows: &FlameRows, camera: &FlameCamera, marks: FlameMarks, theme: &Theme) -> Vec<Op> {
    let mut ops = Vec::new();
    for row in camera.rows() {
        draw_row(rows, row, camera, marks, theme, &mut ops);
    }
    for row in camera.rows().filter(|_| marks.kind.is_some()) {
        let found = rows.in_row(row, camera.x()).iter().filter_map(|&index| rows.get(index));
        let boxes = found.filter(|found| Some(found.label) == marks.kind).map(|found| camera.rect(row, found.span));
        ops.extend(boxes.filter(|rect| rect.width >= NARROW).flat_map(|rect| outline(rect, theme.accent)));
    }
    let outlined = [(marks.hovered, theme.text), (marks.chosen, theme.accent)];
    for (index, color) in outlined {
        let found = index.and_then(|index| rows.get(index));
        ops.extend(found.into_iter().flat_map(|found| outline(camera.rect(found.depth, found.span), color)));
    }
    ops
}

fn draw_row(rows: &FlameRows, row: u32, camera: &FlameCamera, marks: FlameMarks, theme: &Theme, ops: &mut Vec<Op>) {
    // Neighbours too narrow to be told apart, from the left edge of the first to the right edge of the last.
    let mut crowd: Option<Rect> = None;
    for &index in rows.in_row(row, camera.x()) {
        let (Some(found), Some(label)) = (rows.get(index), rows.label(index)) else { continue };
        let rect = camera.rect(row, found.span);
        if rect.width >= NARROW {
            ops.extend(crowd.take().map(|rect| fill(rect, grey(theme))));
            draw_box(rect, label, marks, theme, ops);
            continue;
        }
        match &mut crowd {
            Some(crowd) if rect.x - crowd.right() < NARROW => crowd.width = rect.right() - crowd.x,
            _ => ops.extend(crowd.replace(rect).map(|rect| fill(rect, grey(theme)))),
        }
    }
    ops.extend(crowd.map(|rect| fill(rect, grey(theme))));
}

fn draw_box(rect: Rect, label: &FlameLabel, marks: FlameMarks, theme: &Theme, ops: &mut Vec<Op>) {
    let color = box_color(label, marks, theme);
    ops.push(fill(box_rect(rect), color));
    ops.extend(box_label(rect, (&label.name, &label.place), color.text_on()));
}

fn box_color(label: &FlameLabel, marks: FlameMarks, theme: &Theme) -> Color {
    let color = match label.kind {
        FlameKind::Site(hue) => theme.hues[hue as usize % HUES],
        FlameKind::All | FlameKind::NoStack => theme.initial,
        FlameKind::Merged => theme.merged,
    };
    if marks.is_searched && !label.is_match { color.mixed(theme.background, 0.75) } else { color }
}

fn grey(theme: &Theme) -> Color {
    theme.merged
}

fn fill(rect: Rect, color: Color) -> Op {
    Op::Fill { rect: Rect { width: rect.width.max(0.5), ..rect }, radius: 0.0, color }
}

fn outline(rect: Rect, color: Color) -> [Op; 4] {
    const WIDTH: f64 = 2.0;
    let edge =
        |x: f64, y: f64, width: f64, height: f64| Op::Fill { rect: Rect { x, y, width, height }, radius: 0.0, color };
    let (right, bottom) = (rect.x + (rect.width - WIDTH).max(0.0), rect.y + rect.height - WIDTH);
    let width = rect.width.max(WIDTH);
    [
        edge(rect.x, rect.y, width, WIDTH),
        edge(rect.x, bottom, width, WIDTH),
        edge(rect.x, rect.y, WIDTH, rect.height),
        edge(right, rect.y, WIDTH, rect.height),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Span;
    use crate::state::Rootward;
    use crate::views::flame::camera::ROW;
    use crate::views::flame::rows::tests::rows;

    fn camera(weight: f64, rows: u32) -> FlameCamera {
        FlameCamera::new(Rootward::Up, weight).fitted((800.0, 200.0), rows)
    }

    fn texts(ops: &[Op]) -> Vec<&str> {
        ops.iter().filter_map(|op| if let Op::Text { text, .. } = op { Some(text.as_str()) } else { None }).collect()
    }

    #[test]
    fn wide_boxes_are_named_with_their_place() {
        let rows = rows(&[(0, 0, 0.0, 100.0), (0, 1, 0.0, 10.0), (0, 1, 10.0, 12.0)]);
        let ops = flame(&rows, &camera(100.0, 2), FlameMarks::default(), &Theme::light());
        assert_eq!(texts(&ops), ["function_0", "train.py:10", "function_1"]);
    }

    #[test]
    fn names_are_cut_at_their_end() {
        let rows = rows(&[(0, 0, 0.0, 100.0), (0, 1, 0.0, 6.0)]);
        let ops = flame(&rows, &camera(100.0, 2), FlameMarks::default(), &Theme::light());
        let cut = texts(&ops)[2];
        assert!(cut.ends_with('…') && "function_1".starts_with(cut.trim_end_matches('…')), "{cut}");
    }

    #[test]
    fn a_crowd_costs_pixels_and_not_boxes() {
        let mut boxes = vec![(0, 0, 0.0, 100_000.0)];
        boxes.extend((0..100_000).map(|i| (0, 1, f64::from(i), f64::from(i) + 1.0)));
        let ops = flame(&rows(&boxes), &camera(100_000.0, 2), FlameMarks::default(), &Theme::light());
        assert!(ops.len() < 10, "{}", ops.len());
        let grey = Theme::light().merged;
        let widths = ops.iter().filter_map(|op| match op {
            Op::Fill { rect, color, .. } if *color == grey => Some(rect.width),
            _ => None,
        });
        assert!((widths.sum::<f64>() - 800.0).abs() < 1.5, "the crowd covers its whole width");
    }

    #[test]
    fn narrow_boxes_with_room_between_them_stay_apart() {
        let rows = rows(&[(0, 0, 0.0, 8000.0), (0, 1, 0.0, 5.0), (0, 1, 4000.0, 4005.0)]);
        let ops = flame(&rows, &camera(8000.0, 2), FlameMarks::default(), &Theme::light());
        assert_eq!(ops.iter().filter(|op| matches!(op, Op::Fill { rect, .. } if rect.y == ROW)).count(), 2);
    }

    #[test]
    fn what_a_search_does_not_find_steps_back() {
        let rows = rows(&[(0, 0, 0.0, 100.0), (0, 1, 0.0, 50.0), (0, 1, 50.0, 100.0)]);
        let marks = FlameMarks { is_searched: true, ..FlameMarks::default() };
        let theme = Theme::dark();
        let ops = flame(&rows, &camera(100.0, 2), marks, &theme);
        let is_in = |color: Color| ops.iter().any(|op| matches!(op, Op::Fill { color: other, .. } if *other == color));
        assert!(is_in(theme.hues[1]) && !is_in(theme.hues[2]));
    }

    #[test]
    fn labels_are_readable_on_every_colour() {
        for theme in [Theme::light(), Theme::dark()] {
            let faded = theme.hues.map(|hue| hue.mixed(theme.background, 0.75));
            for color in theme.hues.iter().chain(&faded).chain([&theme.initial, &theme.merged]) {
                assert!(color.text_on().contrast(*color) >= 4.5, "{color:?}");
            }
        }
    }

    #[test]
    fn only_rows_in_view_are_drawn() {
        let rows = rows(&[(0, 0, 0.0, 10.0), (0, 1, 0.0, 10.0), (1, 2, 0.0, 10.0)]);
        let mut low = FlameCamera::new(Rootward::Up, 10.0).fitted((800.0, ROW), 3);
        low.set_view(low.view_of(Span::new(0.0, 10.0), 2));
        assert_eq!(texts(&flame(&rows, &low, FlameMarks::default(), &Theme::light())), ["function_1", "train.py:10"]);
    }
}
