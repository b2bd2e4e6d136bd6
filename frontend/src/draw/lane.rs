//! Annotated spans above the plot, at most a few operations a pixel however many there are.

use super::{
    camera::Camera,
    layout::{LANE_ROW, LANE_ROWS, Layout, Rect},
    overlay::{Align, Font, Op, fitted},
    theme::Theme,
};
use crate::worker::{AxisKind, Span as Annotated};

/// Spans narrower than this are drawn together, in CSS pixels.
const DENSE: f64 = 2.0;

/// The narrowest span with a label, in CSS pixels.
const LABELLED: f64 = 28.0;

/// A span on one axis.
#[derive(Clone, Debug, PartialEq)]
struct Placed {
    start: f64,
    end: f64,
    name: String,
}

/// The rows of annotated spans on one axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lane {
    rows: Vec<Vec<Placed>>,
}

impl Lane {
    /// Sorts spans into rows by depth; deeper ones than there are rows are left out.
    pub fn new(spans: &[Annotated], axis: AxisKind) -> Self {
        let mut rows: Vec<Vec<Placed>> = Vec::new();
        for span in spans.iter().filter(|span| (span.depth as usize) < LANE_ROWS) {
            let depth = span.depth as usize;
            rows.resize_with(rows.len().max(depth + 1), Vec::new);
            let (start, end) = match axis {
                AxisKind::Events => (f64::from(span.start_moment), f64::from(span.end_moment)),
                AxisKind::Time => (span.start_us as f64, span.end_us as f64),
            };
            rows[depth].push(Placed { start, end: end.max(start), name: span.name.clone() });
        }
        rows.iter_mut().for_each(|row| row.sort_by(|a, b| a.start.total_cmp(&b.start)));
        Self { rows }
    }

    /// The number of rows.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// The operations that draw what is in view.
    pub fn ops(&self, camera: &Camera, layout: &Layout, theme: &Theme) -> Vec<Op> {
        let mut ops = Vec::new();
        for (depth, row) in self.rows.iter().enumerate() {
            for (rect, name) in boxes(row, depth, camera, layout) {
                ops.push(Op::Fill { rect, radius: 3.0f64.min(rect.width / 2.0), color: theme.spans[depth] });
                ops.extend(name.and_then(|name| label(rect, name, theme)));
            }
        }
        ops
    }

    /// The name of the span at a point of the element.
    pub fn name_at(&self, (x, y): (f64, f64), camera: &Camera, layout: &Layout) -> Option<&str> {
        if !layout.lane.contains(x, y) {
            return None;
        }
        let row = self.rows.get(((y - layout.lane.y) / LANE_ROW) as usize)?;
        let position = camera.position_from_x(x - layout.plot.x);
        let after = row.partition_point(|span| span.start <= position);
        row[..after].last().filter(|span| position < span.end).map(|span| span.name.as_str())
    }
}

/// The rectangles of a row; neighbours that are too narrow to be told apart share one without a name.
fn boxes<'a>(row: &'a [Placed], depth: usize, camera: &Camera, layout: &Layout) -> Vec<(Rect, Option<&'a str>)> {
    let (view, lane) = (camera.view().x, layout.lane);
    let pixel = view.len() / lane.width;
    let left_of = |position: f64| lane.x + camera.x_from_position(position.clamp(view.start, view.end));
    let mut boxes = Vec::new();
    let mut next = row.partition_point(|span| span.start < view.start).saturating_sub(1);
    while let Some(first) = row.get(next).filter(|span| span.start < view.end) {
        let (mut end, mut name) = (first.end, Some(first.name.as_str()));
        next += 1;
        if first.end - first.start < DENSE * pixel {
            // Skipping by search and not one by one keeps the cost at the width of the plot.
            let until = first.start + DENSE * pixel;
            let skipped = row[next..].partition_point(|span| span.end < until);
            if skipped > 0 {
                (next, end, name) = (next + skipped, row[next + skipped - 1].end, None);
            }
        }
        let (x0, x1) = (left_of(first.start), left_of(end));
        if end > view.start || first.start >= view.start {
            let width = (x1 - x0 - 1.0).max(1.0);
            let rect = Rect { x: x0, y: lane.y + depth as f64 * LANE_ROW, width, height: LANE_ROW - 2.0 };
            boxes.push((rect, name));
        }
    }
    boxes
}

fn label(rect: Rect, name: &str, theme: &Theme) -> Option<Op> {
    let text = if rect.width < LABELLED { String::new() } else { fitted(name, Font::Label, rect.width - 10.0) };
    (!text.is_empty()).then(|| Op::Text {
        x: rect.x + 5.0,
        y: rect.y + rect.height / 2.0 + 0.5,
        text,
        align: Align::Left,
        font: Font::Label,
        color: theme.span_text,
        halo: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::camera::Content;

    fn span(name: &str, start: u32, end: u32, depth: u32) -> Annotated {
        Annotated { name: name.to_owned(), start_moment: start, end_moment: end, depth, ..Annotated::default() }
    }

    fn stage(rows: usize) -> (Camera, Layout) {
        let layout = Layout::new(1086.0, 500.0, 1.0, rows);
        let content = Content { x_end: 1_000_000.0, min_len: 4.0, max_bytes: 1e6 };
        (Camera::new(content, layout.plot_size()), layout)
    }

    fn texts(ops: &[Op]) -> Vec<&str> {
        ops.iter().filter_map(|op| if let Op::Text { text, .. } = op { Some(text.as_str()) } else { None }).collect()
    }

    #[test]
    fn wide_spans_are_labelled_in_their_row() {
        let lane = Lane::new(&[span("step 1", 0, 500_000, 0), span("forward", 0, 200_000, 1)], AxisKind::Events);
        let (camera, layout) = stage(lane.row_count());
        let ops = lane.ops(&camera, &layout, &Theme::light());
        assert_eq!(texts(&ops), ["step 1", "forward"]);
        assert_eq!(
            lane.name_at((layout.plot.x + 10.0, layout.lane.y + LANE_ROW + 2.0), &camera, &layout),
            Some("forward")
        );
        assert_eq!(lane.name_at((layout.plot.x + 900.0, layout.lane.y + 2.0), &camera, &layout), None);
    }

    #[test]
    fn a_span_longer_than_the_view_is_labelled_in_view() {
        let lane = Lane::new(&[span("whole run", 0, 1_000_000, 0)], AxisKind::Events);
        let (mut camera, layout) = stage(1);
        camera.zoom_x(500.0, 0.01);
        let ops = lane.ops(&camera, &layout, &Theme::light());
        assert_eq!(texts(&ops), ["whole run"]);
        assert!(matches!(ops[0], Op::Fill { rect, .. } if rect.x == layout.plot.x && rect.width <= layout.plot.width));
    }

    #[test]
    fn a_crowd_costs_pixels_and_not_spans() {
        let crowd: Vec<Annotated> = (0..400_000).map(|i| span("op", i * 2, i * 2 + 1, 0)).collect();
        let lane = Lane::new(&crowd, AxisKind::Events);
        let (camera, layout) = stage(1);
        let ops = lane.ops(&camera, &layout, &Theme::light());
        assert!(ops.len() as f64 <= layout.plot.width, "{}", ops.len());
        assert!(!ops.is_empty());
    }

    #[test]
    fn rows_beyond_the_last_are_left_out() {
        let lane = Lane::new(&[span("a", 0, 10, 0), span("deep", 0, 5, 7)], AxisKind::Events);
        assert_eq!(lane.row_count(), 1);
    }
}
