//! Grid, axis labels, markers and the crosshair over the plot.

use super::{
    camera::Camera,
    color::Color,
    layout::{Layout, Rect},
    overlay::{Align, Font, Op},
    span::Span,
    theme::Theme,
    ticks::{Tick, byte_ticks, count_ticks, time_ticks},
};
use crate::worker::{AxisKind, Hit};
use shared::base::format;

/// The least distance between labels of the byte axis, in CSS pixels.
const BYTE_GAP: f64 = 44.0;

/// Room between two labels of the x axis, in CSS pixels.
const LABEL_GAP: f64 = 28.0;

/// A moment that is worth a label.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// Where it is on the x axis.
    pub position: f64,
    /// The height of its dot.
    pub bytes: f64,
    /// What stands beside the dot.
    pub label: String,
    /// What it stands for.
    pub kind: MarkerKind,
}

/// What a [`Marker`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerKind {
    /// The highest live bytes.
    Peak,
    /// Out of memory was raised.
    Oom,
}

/// Grid lines and labels of both axes.
pub fn axes(camera: &Camera, layout: &Layout, axis: AxisKind, theme: &Theme) -> Vec<Op> {
    let mut ops = byte_axis(camera, layout, theme);
    ops.extend(x_axis(camera, layout, axis, theme));
    ops
}

fn byte_axis(camera: &Camera, layout: &Layout, theme: &Theme) -> Vec<Op> {
    let plot = layout.plot;
    let min_step = camera.view().y.len() * BYTE_GAP / plot.height;
    let mut ops = Vec::new();
    for Tick { value, label } in byte_ticks(camera.view().y, min_step) {
        let y = plot.y + camera.y_from_bytes(value);
        ops.push(line((plot.x, crisp(y)), (plot.right(), crisp(y)), theme.grid));
        ops.push(Op::Text {
            x: plot.x - 8.0,
            // The lowest label would otherwise stand among those of the x axis.
            y: y.min(plot.bottom() - 4.0),
            text: label,
            align: Align::Right,
            font: Font::Label,
            color: theme.text,
            halo: None,
        });
    }
    ops
}

fn x_axis(camera: &Camera, layout: &Layout, axis: AxisKind, theme: &Theme) -> Vec<Op> {
    let plot = layout.plot;
    let mut ops = vec![line((plot.x, plot.bottom() + 0.5), (plot.right(), plot.bottom() + 0.5), theme.grid)];
    for Tick { value, label } in x_ticks(camera, plot.width, axis) {
        let x = plot.x + camera.x_from_position(value);
        let half = Font::Label.width(&label) / 2.0;
        ops.push(line((crisp(x), plot.bottom()), (crisp(x), plot.bottom() + 4.0), theme.text_muted.with_alpha(0.6)));
        ops.push(Op::Text {
            x: x.min(plot.right() - half),
            y: plot.bottom() + 13.0,
            text: label,
            align: Align::Center,
            font: Font::Label,
            color: theme.text,
            halo: None,
        });
    }
    ops.push(Op::Text {
        x: 6.0,
        y: plot.bottom() + 13.0,
        text: axis_name(axis).to_owned(),
        align: Align::Left,
        font: Font::Label,
        color: theme.text_muted,
        halo: None,
    });
    ops
}

fn axis_name(axis: AxisKind) -> &'static str {
    match axis {
        AxisKind::Events => "event",
        AxisKind::Time => "time",
    }
}

/// Ticks of the x axis, so far apart that the widest label fits between them.
fn x_ticks(camera: &Camera, width: f64, axis: AxisKind) -> Vec<Tick> {
    let range = camera.view().x;
    let ticks_at = |gap: f64| {
        let min_step = range.len() * gap / width;
        match axis {
            AxisKind::Events => count_ticks(range, min_step),
            AxisKind::Time => time_ticks(range, min_step),
        }
    };
    let widest = |ticks: &[Tick]| ticks.iter().map(|tick| Font::Label.width(&tick.label)).fold(0.0, f64::max);
    let ticks = ticks_at(60.0);
    let gap = widest(&ticks) + LABEL_GAP;
    if gap > 60.0 { ticks_at(gap) } else { ticks }
}

/// Dots and labels of the markers in view; labels keep inside the plot and off each other.
pub fn markers(all: &[Marker], camera: &Camera, layout: &Layout, theme: &Theme) -> Vec<Op> {
    let plot = layout.plot;
    let mut ops = Vec::new();
    let mut labels: Vec<Rect> = Vec::new();
    let mut taken_until = f64::NEG_INFINITY;
    for marker in all {
        let (x, y) = (plot.x + camera.x_from_position(marker.position), plot.y + camera.y_from_bytes(marker.bytes));
        let is_peak = marker.kind == MarkerKind::Peak;
        if !(plot.x - 0.5..=plot.right() + 0.5).contains(&x) || (is_peak && !(plot.y..=plot.bottom()).contains(&y)) {
            continue;
        }
        let color = if is_peak { theme.peak } else { theme.oom };
        if !is_peak {
            // Many errors in a row fill a pixel column once.
            if x < taken_until {
                continue;
            }
            taken_until = x + 1.0;
            ops.push(Op::Line {
                from: (crisp(x), plot.y),
                to: (crisp(x), plot.bottom()),
                width: 1.0,
                color: color.with_alpha(0.8),
                dashed: true,
            });
        }
        let y = if is_peak { y } else { plot.y + 8.0 };
        ops.push(Op::Dot { at: (x, y), radius: if is_peak { 4.0 } else { 3.0 }, color, ring: theme.background });
        let is_left = x + 10.0 + Font::Strong.width(&marker.label) > plot.right();
        if let Some(place) = label_place(marker, (x, y), is_left, plot, &labels) {
            ops.push(label_ground(place, theme));
            ops.push(marker_label(marker, place, is_left, color, theme));
            labels.push(place);
        }
    }
    ops
}

/// Room for a label beside its dot: above it, or further down where others are; none where these are too many.
fn label_place(marker: &Marker, (x, y): (f64, f64), is_left: bool, plot: Rect, others: &[Rect]) -> Option<Rect> {
    const LINE: f64 = 15.0;
    const LINES: usize = 4;
    let width = Font::Strong.width(&marker.label);
    let left = if is_left { x - 10.0 - width } else { x + 10.0 };
    let top = (y - 9.0).clamp(plot.y + 8.0, plot.bottom() - 8.0) - LINE / 2.0;
    let places = (0..LINES).map(|line| Rect { x: left, y: top + line as f64 * LINE, width, height: LINE });
    let overlap = |a: &Rect, b: &Rect| a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
    places.into_iter().find(|place| !others.iter().any(|other| overlap(place, other)))
}

/// The reserved line often runs through a label's place.
fn label_ground(place: Rect, theme: &Theme) -> Op {
    const MARGIN: f64 = 3.0;
    let rect = Rect { x: place.x - MARGIN, width: place.width + 2.0 * MARGIN, ..place };
    Op::Fill { rect, radius: MARGIN, color: theme.background.with_alpha(0.86) }
}

fn marker_label(marker: &Marker, place: Rect, is_left: bool, color: Color, theme: &Theme) -> Op {
    Op::Text {
        x: if is_left { place.right() } else { place.x },
        y: place.y + place.height / 2.0,
        text: marker.label.clone(),
        align: if is_left { Align::Right } else { Align::Left },
        font: Font::Strong,
        color,
        halo: Some(theme.background),
    }
}

/// The line through the cursor, with the place on the axis and the bytes at that height.
pub fn crosshair((x, y): (f64, f64), camera: &Camera, layout: &Layout, axis: AxisKind, theme: &Theme) -> Vec<Op> {
    let plot = layout.plot;
    let bytes = camera.bytes_from_y(y - plot.y).max(0.0) as u64;
    let position = camera.position_from_x(x - plot.x);
    let mut ops = vec![
        line((crisp(x), plot.y), (crisp(x), plot.bottom()), theme.crosshair),
        line((plot.x, crisp(y)), (plot.right(), crisp(y)), theme.crosshair.with_alpha(0.22)),
    ];
    let x_label = position_label(axis, position);
    let half = Font::Label.width(&x_label) / 2.0 + 5.0;
    let left = (x - half).clamp(plot.x, (plot.right() - half * 2.0).max(plot.x));
    ops.extend(tag(Rect { x: left, y: plot.bottom() + 4.0, width: half * 2.0, height: 17.0 }, x_label, theme));
    let y_label = format::bytes(bytes);
    let width = Font::Label.width(&y_label) + 8.0;
    ops.extend(tag(Rect { x: plot.x - width - 3.0, y: y - 8.5, width, height: 17.0 }, y_label, theme));
    ops
}

/// The height of the allocation under the cursor, as a bar on the crosshair.
///
/// It shows what no band can: one among merged neighbours, or one of many from before the trace.
pub fn bracket((x, _): (f64, f64), hit: &Hit, camera: &Camera, layout: &Layout, theme: &Theme) -> Option<Op> {
    let (plot, allocation) = (layout.plot, hit.allocation.as_ref()?);
    let y_of = |bytes: u64| (plot.y + camera.y_from_bytes(bytes as f64)).clamp(plot.y, plot.bottom());
    let (top, low) = (y_of(allocation.below_bytes + allocation.size_bytes), y_of(allocation.below_bytes));
    let rect = Rect { x: x.floor() - 1.0, y: top, width: 3.0, height: (low - top).max(1.0) };
    Some(Op::Fill { rect, radius: 0.0, color: theme.accent })
}

/// The lifetime of the pinned allocation, as a bar with ends along the bottom of the plot.
pub fn lifetime(span: Span, camera: &Camera, layout: &Layout, theme: &Theme) -> Vec<Op> {
    let (plot, view) = (layout.plot, camera.view().x);
    if !span.overlaps(view) {
        return Vec::new();
    }
    let x_of = |position: f64| plot.x + camera.x_from_position(position.clamp(view.start, view.end));
    let (left, right) = (x_of(span.start), x_of(span.end));
    let bar = |x: f64, height: f64, width: f64| Op::Fill {
        rect: Rect { x, y: plot.bottom() - height, width, height },
        radius: 0.0,
        color: theme.accent,
    };
    let ends = [(span.start, left), (span.end, right - 2.0)];
    let in_view = |&(position, _): &(f64, f64)| (view.start..=view.end).contains(&position);
    let mut ops = vec![bar(left, 3.0, (right - left).max(2.0))];
    ops.extend(ends.into_iter().filter(in_view).map(|(_, x)| bar(x, 10.0, 2.0)));
    ops
}

/// A place on the x axis in words.
pub fn position_label(axis: AxisKind, position: f64) -> String {
    match axis {
        AxisKind::Events => format::count(position.max(0.0) as u64),
        AxisKind::Time => format::duration(position.max(0.0) as u64),
    }
}

fn tag(rect: Rect, text: String, theme: &Theme) -> [Op; 2] {
    let place = (rect.x + rect.width / 2.0, rect.y + rect.height / 2.0);
    [
        Op::Fill { rect, radius: 3.0, color: theme.text },
        Op::Text {
            x: place.0,
            y: place.1,
            text,
            align: Align::Center,
            font: Font::Label,
            color: theme.background,
            halo: None,
        },
    ]
}

/// The rectangle that is being dragged open to zoom into.
pub fn selection(rect: Rect, theme: &Theme) -> Vec<Op> {
    let (left, right, top, bottom) = (crisp(rect.x), crisp(rect.right()), crisp(rect.y), crisp(rect.bottom()));
    let edge = |from, to| Op::Line { from, to, width: 1.0, color: theme.accent, dashed: false };
    vec![
        Op::Fill { rect, radius: 0.0, color: theme.accent.with_alpha(0.14) },
        edge((left, top), (right, top)),
        edge((right, top), (right, bottom)),
        edge((right, bottom), (left, bottom)),
        edge((left, bottom), (left, top)),
    ]
}

fn line(from: (f64, f64), to: (f64, f64), color: Color) -> Op {
    Op::Line { from, to, width: 1.0, color, dashed: false }
}

/// The middle of a pixel: a line of one pixel there is not smeared over two.
fn crisp(at: f64) -> f64 {
    at.floor() + 0.5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::camera::Content;

    const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

    fn stage(width: f64) -> (Camera, Layout) {
        let layout = Layout::new(width, 500.0, 1.0, 0);
        let content = Content { x_end: 10_000_001.0, min_len: 4.0, max_bytes: 74.0 * GIB };
        (Camera::new(content, layout.plot_size()), layout)
    }

    /// Left and right ends of the texts at one height.
    fn extents(ops: &[Op], height: f64) -> Vec<(f64, f64)> {
        ops.iter()
            .filter_map(|op| match op {
                Op::Text { x, y, text, align, font, .. } if (y - height).abs() < 1.0 => {
                    let width = font.width(text);
                    let left = x - width
                        * match align {
                            Align::Left => 0.0,
                            Align::Center => 0.5,
                            Align::Right => 1.0,
                        };
                    Some((left, left + width))
                }
                _ => None,
            })
            .collect()
    }

    #[test]
    fn labels_of_the_x_axis_never_overlap() {
        for width in [320.0, 390.0, 1280.0, 2500.0] {
            for axis in [AxisKind::Events, AxisKind::Time] {
                let (mut camera, layout) = stage(width);
                for _ in 0..40 {
                    let mut ends =
                        extents(&x_axis(&camera, &layout, axis, &Theme::light()), layout.plot.bottom() + 13.0);
                    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
                    let inside = ends.iter().all(|end| end.1 <= layout.outer.width + 0.5);
                    assert!(inside && ends.windows(2).skip(1).all(|pair| pair[0].1 < pair[1].0), "{width}: {ends:?}");
                    camera.zoom_x(width * 0.3, 0.7);
                }
            }
        }
    }

    #[test]
    fn the_peak_is_labelled_inside_the_plot() {
        let (camera, layout) = stage(1280.0);
        for position in [0.0, 5e6, 10_000_000.0] {
            let peak =
                Marker { position, bytes: 74.0 * GIB, label: "peak 74.0 GiB".to_owned(), kind: MarkerKind::Peak };
            let ops = markers(&[peak], &camera, &layout, &Theme::light());
            let Some(Op::Text { y, .. }) = ops.iter().find(|op| matches!(op, Op::Text { .. })) else {
                panic!("no label at {position}")
            };
            let ends = extents(&ops, *y)[0];
            assert!(ends.0 >= layout.plot.x - 16.0 && ends.1 <= layout.plot.right() + 1.0, "{ends:?}");
            assert!(*y >= layout.plot.y);
        }
    }

    #[test]
    fn labels_of_a_peak_that_ran_out_of_memory_lie_apart() {
        let (camera, layout) = stage(1280.0);
        let marker = |bytes, label: &str, kind| Marker { position: 10_000_000.0, bytes, label: label.to_owned(), kind };
        let both = [
            marker(74.0 * GIB, "peak 74.0 GiB", MarkerKind::Peak),
            marker(0.0, "out of memory: 256 MiB asked", MarkerKind::Oom),
        ];
        let ops = markers(&both, &camera, &layout, &Theme::light());
        let heights: Vec<f64> =
            ops.iter().filter_map(|op| if let Op::Text { y, .. } = op { Some(*y) } else { None }).collect();
        assert!(heights.len() == 2 && (heights[0] - heights[1]).abs() >= 12.0, "{heights:?}");
    }

    #[test]
    fn markers_out_of_view_are_left_out() {
        let (mut camera, layout) = stage(1280.0);
        let oom = |position| Marker { position, bytes: 0.0, label: "out of memory".to_owned(), kind: MarkerKind::Oom };
        camera.zoom_x(0.0, 0.01);
        assert!(markers(&[oom(9e6)], &camera, &layout, &Theme::light()).is_empty());
        let crowd: Vec<Marker> = (0..10_000).map(|i| oom(f64::from(i) * 1e-3)).collect();
        assert_eq!(markers(&crowd, &camera, &layout, &Theme::light()).len(), 4);
    }

    #[test]
    fn a_lifetime_that_leaves_the_view_has_no_end_there() {
        let (mut camera, layout) = stage(1280.0);
        camera.zoom_x(0.0, 0.5);
        let count = |start, end| lifetime(Span::new(start, end), &camera, &layout, &Theme::light()).len();
        assert_eq!(count(1e6, 2e6), 3);
        assert_eq!(count(1e6, 9e6), 2);
        assert_eq!(count(8e6, 9e6), 0);
    }

    #[test]
    fn places_read_like_the_axis() {
        assert_eq!(position_label(AxisKind::Events, 1234.7), "1,234");
        assert_eq!(position_label(AxisKind::Time, 1500.0), "1.50 ms");
    }
}
