//! Tests still maps of segments, box by box.

use super::super::tests::{check_inside, is_single, words};
use super::*;
use crate::analysis::naive;
use crate::draw::color::Color;
use crate::draw::op::Op;
use crate::trace::text;

const TRACE: &str = "
    segment_alloc 0x10000000 20MiB
    alloc 0x10000000 2MiB @f<main
    alloc 0x10200000 3MiB @g<main
    segment_alloc 0x20000000 10MiB
    free_requested 0x10000000
    segment_free 0x20000000 10MiB
    alloc 0x30000000 512
    free 0x30000000
    segment 0x10000000 20MiB
    block 0x10000000 2MiB pending
    block 0x10200000 3MiB
";

const THEME: Theme = Theme::light();

fn drawn(trace: &Trace, options: &MomentOptions) -> Sketch {
    let device = &trace.devices[0];
    segments_picture(trace, (device, &Timeline::new(trace, device)), options, &THEME)
}

/// Sums the widths of the boxes of some colours that are as high as a line and below the legend.
fn pixels(sketch: &Sketch, is_meant: impl Fn(Color) -> bool) -> f64 {
    let of = |op: &Op| match op {
        Op::Boxes { color, boxes } if is_meant(*color) => {
            boxes.iter().filter(|rect| rect.y >= ABOVE && rect.height == LINE).map(|rect| rect.width).sum()
        }
        _ => 0.0,
    };
    sketch.ops.iter().map(of).sum()
}

#[test]
fn segments_are_as_long_as_their_bytes() {
    let trace = text::parse(TRACE).unwrap();
    let options = MomentOptions { title: "run · GPU 0 · segments".to_owned(), ..MomentOptions::default() };
    let sketch = drawn(&trace, &options);
    let words = words(&sketch);
    let figures =
        "30.0 MiB reserved at the peak, after event 3, in 2 segments · 25.0 MiB free in them · each line is 2.00 MiB";
    let group = "Large blocks · 30.0 MiB in 2 segments · 25.0 MiB free, longest 15.0 MiB";
    for part in ["run · GPU 0 · segments", figures, group] {
        assert!(words.contains(&part), "{part} in {words:?}");
    }
    let line = 1200.0 - 2.0 * MARGIN;
    assert!(
        (pixels(&sketch, |color| color == Tone::Free.color(&THEME)) - 15.0 * line).abs() < 0.01,
        "30 MiB on lines of 2"
    );
    // One block lies on one line and one on two; each of the three boxes is a pixel shorter than its bytes.
    let used = pixels(&sketch, is_single);
    assert!((used - (2.5 * line - 3.0)).abs() < 0.01, "{used}");
}

#[test]
fn a_pending_block_is_marked_and_explained() {
    let trace = text::parse(TRACE).unwrap();
    let is_marked = |moment| {
        let sketch = drawn(&trace, &MomentOptions { moment: Some(moment), ..MomentOptions::default() });
        let mark = |op: &Op| match op {
            Op::Boxes { boxes, color } => *color == THEME.reserved && boxes.iter().any(|rect| rect.y >= ABOVE),
            _ => false,
        };
        (sketch.ops.iter().any(mark), words(&sketch).contains(&"pending free"))
    };
    assert_eq!((is_marked(4), is_marked(99)), ((false, false), (true, true)));
}

#[test]
fn everything_lies_within_the_picture() {
    for seed in 0..10 {
        let trace = naive::random_trace(seed, 500);
        for (width, height) in [(1200, None), (10, Some(10)), (400, Some(900)), (3000, Some(240))] {
            let sketch = drawn(&trace, &MomentOptions { width, height, ..MomentOptions::default() });
            assert_eq!(sketch.width, f64::from(width.max(240)));
            assert!(height.is_none_or(|height| sketch.height == f64::from(height.max(240))));
            check_inside(&sketch);
        }
    }
}

#[test]
fn a_picture_of_a_height_has_the_finest_scale_that_fits() {
    let trace = text::parse(TRACE).unwrap();
    let scale = |height| {
        let sketch = drawn(&trace, &MomentOptions { height: Some(height), ..MomentOptions::default() });
        let words = words(&sketch).join(" ");
        assert!(!words.contains("not shown"), "{words}");
        words.split_once("each line is ").map(|(_, rest)| rest.split(" M").next().unwrap().to_owned())
    };
    assert_eq!((scale(240), scale(900)), (Some("8.00".to_owned()), Some("2.00".to_owned())));
}

#[test]
fn an_empty_trace_has_a_picture_too() {
    let sketch = drawn(&text::parse("").unwrap(), &MomentOptions::default());
    let figures =
        "0 B reserved at the peak, before the first event, in 0 segments · 0 B free in them · each line is 2.00 MiB";
    assert!(words(&sketch).contains(&figures), "{:?}", words(&sketch));
}
