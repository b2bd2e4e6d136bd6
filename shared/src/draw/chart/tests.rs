//! Tests which operations plotters records for a chart.

use super::*;
use crate::draw::op::Align;
use crate::draw::ticks::Tick;

const GIB: u64 = 1 << 30;

fn chart(labels: Labels, curves: Vec<Curve>) -> Chart {
    let x = Axis { range: Span::new(0.0, 10.0), labels };
    let room = Room { left: 60.0, top: 10.0, right: 20.0, bottom: 30.0 };
    Chart { x, y: Axis::bytes(4 * GIB), room, font: Font::LABEL, curves }
}

fn texts(ops: &[Op]) -> Vec<(&str, f64, Align)> {
    let text = |op| match op {
        &Op::Text { ref text, x, align, .. } => Some((text.as_str(), x, align)),
        _ => None,
    };
    ops.iter().filter_map(text).collect()
}

#[test]
fn labels_stand_beside_the_plot_at_round_bytes() {
    let plotted = chart(Labels::None, Vec::new()).plotted((480.0, 240.0), &Theme::light());
    assert_eq!(plotted.plot, Rect::new(60.0, 10.0, 400.0, 200.0));
    let drawn = texts(&plotted.ops);
    assert_eq!(drawn.iter().map(|(text, ..)| *text).collect::<Vec<_>>(), ["0 GiB", "1 GiB", "2 GiB", "3 GiB", "4 GiB"]);
    assert!(drawn.iter().all(|(_, x, align)| (x - 52.0).abs() < 0.2 && *align == Align::Right), "{drawn:?}");
    let lines = plotted.ops.iter().filter_map(|op| match op {
        Op::Line { points, width, color, .. } => Some((points.clone(), *width, *color)),
        _ => None,
    });
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines.len(), 5, "a line of the grid for each label");
    let theme = Theme::light();
    for (points, width, color) in &lines {
        assert_eq!((*width, color.rgb), (1.0, theme.grid.rgb));
        assert_eq!(points[0].1.fract(), 0.5, "lines lie on pixels");
    }
}

#[test]
fn labels_that_do_not_fit_are_left_out() {
    let ticks: Vec<Tick> = (0..10).map(|step| Tick { value: f64::from(step), label: format!("step {step}") }).collect();
    let drawn = |width| {
        let plotted = chart(Labels::Given(ticks.clone()), Vec::new()).plotted((width, 240.0), &Theme::light());
        texts(&plotted.ops).iter().filter(|(text, ..)| text.starts_with("step")).count()
    };
    assert_eq!(drawn(1000.0), 10);
    assert!((1..6).contains(&drawn(280.0)), "{}", drawn(280.0));
}

#[test]
fn curves_are_where_their_values_are() {
    let color = Color::new(0x123456);
    let points = vec![(0.0, 0.0), (5.0, 2.12 * GIB as f64), (10.0, 4.24 * GIB as f64)];
    let curves = vec![Curve::area(points.clone(), color, 1.0, 0.25), Curve::line(points, color, 1.5)];
    let plotted = chart(Labels::None, curves).plotted((480.0, 240.0), &Theme::dark());
    let close = |a: Point, b: Point| (a.0 - b.0).abs() <= 0.13 && (a.1 - b.1).abs() <= 0.13;
    let expected = [(60.0, 210.0), (260.0, 110.0), (460.0, 10.0)];
    let drawn = plotted.ops.iter().filter_map(|op| match op {
        Op::Line { points, width, color: drawn, .. } if drawn.rgb == color.rgb => Some((points, *width)),
        _ => None,
    });
    let drawn: Vec<_> = drawn.collect();
    assert_eq!(drawn.iter().map(|(_, width)| *width).collect::<Vec<_>>(), [1.0, 1.5]);
    for (points, _) in drawn {
        assert!(points.iter().zip(expected).all(|(at, expected)| close(*at, expected)), "{points:?}");
    }
    let area = plotted.ops.iter().find_map(|op| match op {
        Op::Area { points, color } => Some((points, color.alpha)),
        _ => None,
    });
    let (points, alpha) = area.expect("an area");
    assert!(points.len() >= 4 && (alpha - 0.25).abs() < 1e-6);
    assert!(close(plotted.at((5.0, 2.12 * GIB as f64)), expected[1]));
}

#[test]
fn columns_are_whole_pixels_as_high_as_their_highest_value() {
    let mut plotted = chart(Labels::None, Vec::new()).plotted((480.0, 240.0), &Theme::light());
    plotted.ops.clear();
    let color = Color::new(1);
    let half = 2.12 * GIB as f64;
    plotted.fill_columns([(0.0, half), (5.0, 0.0), (5.003, half), (5.006, 0.0)].into_iter(), 5.01, color);
    let boxes = vec![Rect::new(60.0, 110.0, 200.0, 100.0), Rect::new(260.0, 110.0, 1.0, 100.0)];
    assert_eq!(plotted.ops, [Op::Boxes { boxes, color }]);
}

#[test]
fn marks_cross_the_plot() {
    let mut plotted = chart(Labels::None, Vec::new()).plotted((480.0, 240.0), &Theme::light());
    plotted.ops.clear();
    let color = Color::new(1);
    plotted.level(2.12 * GIB as f64, color);
    plotted.upright(5.0, color);
    let expected = [
        Op::dashed([(60.0, 110.5), (460.0, 110.5)], 1.5, color),
        Op::dashed([(260.5, 10.0), (260.5, 210.0)], 1.5, color),
    ];
    assert_eq!(plotted.ops, expected);
}

#[test]
fn equal_neighbours_share_a_level_line() {
    assert_eq!(columns([5, 5, 7, 7].into_iter()), [(0.0, 5.0), (0.5, 5.0), (0.5, 7.0), (1.0, 7.0)]);
    assert_eq!(columns([3].into_iter()), [(0.0, 3.0), (1.0, 3.0)]);
    assert_eq!(columns(std::iter::empty::<u64>().collect::<Vec<_>>().into_iter()), []);
}

#[test]
fn a_chart_without_room_draws_nothing_strange() {
    for size in [(0.0, 0.0), (10.0, 10.0), (61.0, 41.0)] {
        let plotted =
            chart(Labels::None, vec![Curve::line(vec![(0.0, 1.0)], Color::new(0), 1.0)]).plotted(size, &Theme::light());
        let finite = |op: &Op| match op {
            Op::Line { points, .. } => points.iter().all(|(x, y)| x.is_finite() && y.is_finite()),
            _ => true,
        };
        assert!(plotted.ops.iter().all(finite), "{:?}", plotted.ops);
    }
}
