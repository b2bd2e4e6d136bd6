//! Tests the chart's contents and what is drawn.

use super::*;
use crate::job::model::watch::Sample;

fn course(steps: u64, highest: u64) -> Rc<Course> {
    let sample = |index| Sample { step: Some(index / 10), live_bytes: highest / 2, reserved_bytes: highest };
    Rc::new(Course::of_samples(&(0..steps * 10).map(sample).collect::<Vec<_>>()))
}

/// Returns the texts of a chart at a size.
fn texts(chart: &Chart, size: (f64, f64)) -> Vec<String> {
    let text = |op: Op| match op {
        Op::Text { text, .. } => Some(text),
        _ => None,
    };
    chart.sketch(size, &Theme::light()).ops.into_iter().filter_map(text).collect()
}

#[test]
fn the_card_is_in_sight_once_it_matters() {
    const GIB: u64 = 1 << 30;
    let chart = |highest| Chart::new(course(3, highest), Some(16 * GIB));
    assert!(!chart(GIB).has_capacity() && chart(4 * GIB).has_capacity());
    let top_bytes = |highest| chart(highest).plot(&Theme::light()).y.range.end;
    assert!(top_bytes(4 * GIB) > 16.0 * GIB as f64);
    assert!(top_bytes(GIB) < 1.2 * GIB as f64);
}

#[test]
fn steps_are_labelled_where_they_have_room() {
    let labels = |steps, width| -> Vec<String> {
        let texts = texts(&Chart::new(course(steps, 1000), None), (width, 240.0));
        texts.into_iter().filter(|text| text.starts_with("step")).collect()
    };
    assert_eq!(labels(3, 800.0), ["step 1", "step 2", "step 3"]);
    assert_eq!(labels(4, 224.0), ["step 1", "step 3"]);
    assert!(labels(500, 800.0).len() < 20);
}

#[test]
fn a_chart_of_nothing_can_be_drawn() {
    let chart = Chart::new(Rc::default(), None);
    chart.sketch((0.0, 0.0), &Theme::light());
    assert_eq!(chart.spoken(), "Memory over the run: at most 0 B live and 0 B reserved");
}

#[test]
fn curves_are_steps() {
    let parts = [(5, 10), (5, 12)];
    assert_eq!(corners(&parts, |part| part.0), [(0.0, 5.0), (2.0, 5.0)]);
    assert_eq!(corners(&parts, |part| part.1), [(0.0, 10.0), (1.0, 10.0), (1.0, 12.0), (2.0, 12.0)]);
}

#[test]
fn curves_and_labels_are_drawn() {
    let theme = Theme::light();
    let chart = Chart::new(course(3, 12 << 30), Some(16 << 30));
    let drawn = texts(&chart, (800.0, 280.0));
    for text in ["0 GiB", "step 1", "step 3", "GPU memory 16.0 GiB"] {
        assert!(drawn.iter().any(|drawn| drawn == text), "{text} in {drawn:?}");
    }
    let sketch = chart.sketch((800.0, 280.0), &theme);
    let has_line = |wanted: Color| sketch.ops.iter().any(|op| matches!(op, Op::Line { color, .. } if *color == wanted));
    assert!([theme.live, theme.reserved, theme.oom].into_iter().all(has_line));
    let inside = |&(x, y): &Point| (0.0..=800.0).contains(&x) && (0.0..=280.0).contains(&y);
    for op in &sketch.ops {
        if let Op::Line { points, .. } | Op::Area { points, .. } = op {
            assert!(points.iter().all(inside), "{op:?}");
        }
    }
}

#[test]
fn the_peak_and_the_end_of_memory_are_marked() {
    let course = Course { peak: Some(20.5), ooms: vec![29.5], ..Course::clone(&course(3, 12 << 30)) };
    let chart = Chart::new(Rc::new(course), Some(16 << 30));
    assert!(chart.spoken().ends_with("12.0 GiB reserved, then it ran out of memory"), "{}", chart.spoken());
    let drawn = texts(&chart, (800.0, 280.0));
    for text in ["peak live 6.00 GiB", "out of memory"] {
        assert!(drawn.iter().any(|drawn| drawn == text), "{text} in {drawn:?}");
    }
    let dots =
        chart.sketch((800.0, 280.0), &Theme::dark()).ops.iter().filter(|op| matches!(op, Op::Dot { .. })).count();
    assert_eq!(dots, 1);
}
