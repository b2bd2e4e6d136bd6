//! Grid, axis labels and the crosshair of the plot.

use super::places::Places;
use crate::ask::{Axis, Hit};
use crate::draw::ticks::{Tick, byte_ticks, count_ticks, time_ticks};
use crate::draw::{Align, Camera, Color, Font, Layout, Op, Rect, Span, Theme, crisp};
use shared::base::format;

/// Minimum distance between labels of the byte axis, in CSS pixels.
const BYTE_GAP: f64 = 44.0;

/// Distance between labels of the x axis for which its ticks are spaced, in CSS pixels.
const LABEL_GAP: f64 = 28.0;

/// Minimum distance of a label of the x axis from the axis's name or the previous label, in CSS pixels.
///
/// Labels are this close only where one was moved inward at the end of the plot.
const LEAST_GAP: f64 = 6.0;

/// Distance of the longest label of the byte axis from the left edge of the element, in CSS pixels.
const EDGE: f64 = 2.0;

pub fn axes(camera: &Camera, layout: &Layout, axis: Axis, theme: &Theme, places: &mut Places) -> Vec<Op> {
    let mut ops = byte_axis(camera, layout, theme, places);
    ops.extend(x_axis(camera, layout, axis, theme));
    ops
}

fn byte_axis(camera: &Camera, layout: &Layout, theme: &Theme, places: &mut Places) -> Vec<Op> {
    let plot = layout.plot;
    let min_step = camera.view().y.len() * BYTE_GAP / plot.height;
    let mut ops = Vec::new();
    for Tick { value, label } in byte_ticks(camera.view().y, min_step) {
        let y = plot.y + camera.y_from_bytes(value);
        // When zoomed in far, exact byte counts are wider than the margin; they reach into the plot and are never cut.
        let right = (plot.x - 8.0).max(EDGE + Font::LABEL.width(&label));
        ops.push(line((plot.x, crisp(y)), (plot.right(), crisp(y)), theme.grid));
        let text = Op::Text {
            x: right,
            // The lowest label would otherwise be among those of the x axis.
            y: y.min(plot.bottom() - 4.0),
            text: label,
            align: Align::Right,
            font: Font::LABEL,
            color: theme.text,
            halo: (right > plot.x).then_some(theme.background),
        };
        text.text_rect().into_iter().for_each(|place| places.note(place));
        ops.push(text);
    }
    ops
}

fn x_axis(camera: &Camera, layout: &Layout, axis: Axis, theme: &Theme) -> Vec<Op> {
    let plot = layout.plot;
    let label = |x: f64, text: String, align: Align, color: Color| {
        Op::text((x, plot.bottom() + 13.0), text, align, Font::LABEL, color)
    };
    let name = match axis {
        Axis::Events => "event",
        Axis::Time => "time",
    };
    let mut ops = vec![
        line((plot.x, plot.bottom() + 0.5), (plot.right(), plot.bottom() + 0.5), theme.grid),
        label(6.0, name.to_owned(), Align::Left, theme.text_muted),
    ];
    let mut free_from = 6.0 + Font::LABEL.width(name) + LEAST_GAP;
    for Tick { value, label: text } in x_ticks(camera, plot.width, axis) {
        let x = plot.x + camera.x_from_position(value + first_position(axis));
        ops.push(line((crisp(x), plot.bottom()), (crisp(x), plot.bottom() + 4.0), theme.text_muted.with_alpha(0.6)));
        let half = Font::LABEL.width(&text) / 2.0;
        let center = x.min(plot.right() - half);
        // Next to the axis's name and at the end of the plot there may be room for the tick, but not for its label.
        if center - half >= free_from {
            free_from = center + half + LEAST_GAP;
            ops.push(label(center, text, Align::Center, theme.text));
        }
    }
    ops
}

/// Returns the ticks of the x axis, far enough apart for the widest label to fit between them.
fn x_ticks(camera: &Camera, width: f64, axis: Axis) -> Vec<Tick> {
    let range = camera.view().x.moved(-first_position(axis));
    let ticks_at = |gap: f64| {
        let min_step = range.len() * gap / width;
        match axis {
            Axis::Events => count_ticks(range, min_step),
            Axis::Time => time_ticks(range, min_step),
        }
    };
    let widest = |ticks: &[Tick]| ticks.iter().map(|tick| Font::LABEL.width(&tick.label)).fold(0.0, f64::max);
    let ticks = ticks_at(60.0);
    let gap = widest(&ticks) + LABEL_GAP;
    if gap > 60.0 { ticks_at(gap) } else { ticks }
}

/// Returns the position from which on the first event, or the start of the time, has its effect.
///
/// On the event axis, the bytes at a position are those before the event with that number.
fn first_position(axis: Axis) -> f64 {
    match axis {
        Axis::Events => 1.0,
        Axis::Time => 0.0,
    }
}

/// Returns the lines through the cursor, labelled with the place on the x axis and the bytes at that height.
///
/// A picture shows the highest of the moments that share a pixel, so `shown` names that moment as soon as it is known.
pub fn crosshair(
    (x, y): (f64, f64),
    shown: Option<u32>,
    camera: &Camera,
    layout: &Layout,
    (axis, theme): (Axis, &Theme),
) -> Vec<Op> {
    let plot = layout.plot;
    let bytes = camera.bytes_from_y(y - plot.y).max(0.0) as u64;
    let position = camera.position_from_x(x - plot.x);
    let mut ops = vec![
        line((crisp(x), plot.y), (crisp(x), plot.bottom()), theme.crosshair),
        line((plot.x, crisp(y)), (plot.right(), crisp(y)), theme.crosshair.with_alpha(0.22)),
    ];
    let position = match (axis, shown) {
        (Axis::Events, Some(moment)) => f64::from(moment),
        _ => position,
    };
    let x_label = position_label(axis, position);
    let half = Font::LABEL.width(&x_label) / 2.0 + 5.0;
    let left = (x - half).clamp(plot.x, (plot.right() - half * 2.0).max(plot.x));
    ops.extend(tag(Rect { x: left, y: plot.bottom() + 4.0, width: half * 2.0, height: 17.0 }, x_label, theme));
    let y_label = format::bytes(bytes);
    let width = Font::LABEL.width(&y_label) + 8.0;
    let (left, top) = ((plot.x - width - 3.0).max(0.0), (y - 8.5).max(0.0));
    ops.extend(tag(Rect { x: left, y: top, width, height: 17.0 }, y_label, theme));
    ops
}

/// Returns a bar on the crosshair as high as the allocation under the cursor.
///
/// It shows what no band can: one of several merged neighbours, or one of many from before the trace.
pub fn bracket((x, _): (f64, f64), hit: &Hit, camera: &Camera, layout: &Layout, theme: &Theme) -> Option<Op> {
    let (plot, allocation) = (layout.plot, hit.allocation.as_ref()?);
    let y_of = |bytes: u64| (plot.y + camera.y_from_bytes(bytes as f64)).clamp(plot.y, plot.bottom());
    let (top, low) = (y_of(allocation.below_bytes + allocation.size_bytes), y_of(allocation.below_bytes));
    let rect = Rect { x: x.floor() - 1.0, y: top, width: 3.0, height: (low - top).max(1.0) };
    Some(Op::Fill { rect, radius: 0.0, color: theme.accent })
}

/// Returns the lifetime of the pinned allocation as a bar along the bottom of the plot, with marks at its ends.
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

/// Formats a position on the x axis; on the event axis it is the last event before it.
pub fn position_label(axis: Axis, position: f64) -> String {
    match axis {
        Axis::Events => format::count((position - first_position(axis)).max(0.0) as u64),
        Axis::Time => format::duration(position.max(0.0) as u64),
    }
}

fn tag(rect: Rect, text: String, theme: &Theme) -> [Op; 2] {
    let place = (rect.x + rect.width / 2.0, rect.y + rect.height / 2.0);
    let text = Op::text(place, text, Align::Center, Font::LABEL, theme.background);
    [Op::Fill { rect, radius: 3.0, color: theme.text }, text]
}

/// Returns the drawing of the rectangle that is being dragged open to zoom into.
pub fn selection(rect: Rect, theme: &Theme) -> Vec<Op> {
    let (left, right, top, bottom) = (crisp(rect.x), crisp(rect.right()), crisp(rect.y), crisp(rect.bottom()));
    let edge = |from, to| Op::line([from, to], 1.0, theme.accent);
    vec![
        Op::Fill { rect, radius: 0.0, color: theme.accent.with_alpha(0.14) },
        edge((left, top), (right, top)),
        edge((right, top), (right, bottom)),
        edge((right, bottom), (left, bottom)),
        edge((left, bottom), (left, top)),
    ]
}

fn line(from: (f64, f64), to: (f64, f64), color: Color) -> Op {
    Op::line([from, to], 1.0, color)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::timeline::draw::stage::stage;

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
        assert_eq!(position_label(Axis::Events, 1235.7), "1,234");
        assert_eq!(position_label(Axis::Time, 1500.0), "1.50 ms");
    }
}
