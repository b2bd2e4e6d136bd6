//! Draws the curves of a log.

use crate::draw::chart::{Axis, Chart, Curve, Labels, Plotted, Room, steps};
use crate::draw::color::Color;
use crate::draw::op::{Align, Font, Op};
use crate::draw::rect::Rect;
use crate::draw::span::Span;
use crate::draw::theme::Theme;
use crate::draw::ticks::time_ticks;
use crate::report::{LogCurves, LogLane};

/// Room around the plot; left and right of it, as much as the timeline of a snapshot has.
pub const LOG_ROOM: Room = Room { left: 74.0, top: 8.0, right: 12.0, bottom: 24.0 };

/// Smallest distance of two labels of times in CSS pixels.
const BETWEEN_TIMES: f64 = 90.0;

/// Height of a row of spans above the plot, with the gap below it, in CSS pixels.
const LANE: f64 = 14.0;
const LANE_GAP: f64 = 4.0;

/// Narrowest span whose name is drawn into it, in CSS pixels.
const NAMED: f64 = 40.0;

/// Draws the times from `from` to `to` in microseconds; labels of times count from `start_us`, and so do positions on the
/// horizontal axis of the result.
pub fn log_chart(
    curves: &LogCurves,
    (from, to): (i64, i64),
    start_us: i64,
    size: (f64, f64),
    theme: &Theme,
) -> Plotted {
    let part = curves.part(from..to, (size.0 * 2.0).max(2.0) as usize);
    let since = |us: i64| (us - start_us) as f64;
    let x = Span::new(since(from), since(to));
    let mut top: Vec<u64> = vec![0; part.times_us.len()];
    let mut highest = 0;
    // Nothing is known after the last time.
    let end = part.times_us.last().map_or(x.start, |us| since(*us).clamp(x.start, x.end));
    let mut layers = Vec::new();
    for (position, series) in part.series.iter().enumerate().rev() {
        if !part.is_stacked {
            top.fill(0);
        }
        top.iter_mut().zip(&series.bytes).for_each(|(sum, bytes)| *sum = sum.saturating_add(*bytes));
        highest = top.iter().copied().fold(highest, u64::max);
        // The neighbours of the range stand for its ends.
        let at = part.times_us.iter().map(|us| since(*us).clamp(x.start, x.end));
        let points = at.zip(top.iter().map(|bytes| *bytes as f64));
        let points: Vec<_> = if part.has_steps { steps(points, end) } else { points.collect() };
        let color = series_color(position, theme);
        layers.push(match part.is_stacked {
            true => Curve::area(points, color, 0.0, 1.0),
            false => Curve::line(points, color, 2.0),
        });
    }
    // Of stacked areas, the highest one is drawn first, and lower ones cover it.
    layers.reverse();
    // Memory that is far above the curves would flatten them.
    let limit = part.limit.as_ref().map(|limit| limit.bytes).filter(|limit| *limit <= highest.saturating_mul(4));
    let step = x.len() * BETWEEN_TIMES / (size.0 - LOG_ROOM.left - LOG_ROOM.right).max(1.0);
    let chart = Chart {
        x: Axis { range: x, labels: Labels::Given(time_ticks(x, step)) },
        y: Axis::bytes(highest.max(limit.unwrap_or(0))),
        room: Room { top: LOG_ROOM.top + part.lanes.len() as f64 * (LANE + LANE_GAP), ..LOG_ROOM },
        font: Font::LABEL,
        curves: layers,
    };
    let mut plotted = chart.plotted(size, theme);
    if let Some(limit) = limit {
        plotted.level(limit as f64, theme.oom);
    }
    for kill in part.kills_us.iter().filter(|kill| (from..=to).contains(*kill)) {
        plotted.upright(since(*kill), theme.oom);
    }
    for (row, lane) in part.lanes.iter().enumerate() {
        let top = LOG_ROOM.top + row as f64 * (LANE + LANE_GAP);
        let ops = lane_ops(lane, (from, to), Rect { y: top, height: LANE, ..plotted.plot }, theme);
        plotted.ops.extend(ops);
    }
    plotted
}

/// Draws the spans of a lane between two times; spans closer than a pixel are drawn as one.
fn lane_ops(lane: &LogLane, (from, to): (i64, i64), rect: Rect, theme: &Theme) -> Vec<Op> {
    let at = |us: i64| {
        let share = (us.clamp(from, to) - from) as f64 / (to - from).max(1) as f64;
        rect.x + share * rect.width
    };
    let label = (rect.x - 8.0, rect.y + rect.height / 2.0);
    let mut ops = vec![Op::text(label, lane.name.clone(), Align::Right, Font::LABEL, theme.text_muted)];
    let mut bars: Vec<(f64, f64, &str)> = Vec::new();
    for span in lane.spans.iter().filter(|span| span.to_us >= from && span.from_us <= to) {
        let (left, right) = (at(span.from_us), at(span.to_us));
        match bars.last_mut() {
            Some((start, end, _)) if left - *end < 1.0 && right - *start < NAMED => *end = right.max(*end),
            _ => bars.push((left, right, &span.name)),
        }
    }
    for (left, right, name) in bars {
        let bar = Rect { x: left, width: (right - left - 1.0).max(1.0), ..rect };
        ops.push(Op::Fill { rect: bar, radius: 2.0, color: theme.accent.with_alpha(0.22) });
        if bar.width >= NAMED {
            let text = Font::LABEL.fitted(name, bar.width - 8.0);
            ops.push(Op::text((left + 4.0, label.1), text, Align::Left, Font::LABEL, theme.text));
        }
    }
    ops
}

/// Returns the colour of a series by its position.
pub fn series_color(position: usize, theme: &Theme) -> Color {
    theme.hues[position % theme.hues.len()]
}
