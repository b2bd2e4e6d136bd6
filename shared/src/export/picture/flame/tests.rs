//! Tests still flame graphs, box by box.

use super::super::tests::{check_inside, words};
use super::*;
use crate::analysis::naive;
use crate::trace::text;

const TRACE: &str = "
    alloc a 30MiB @relu<step<main
    alloc b 20MiB @load<main
    alloc c 50MiB @mm<step<main
    free_completed a
";

fn drawn(trace: &Trace, options: &MomentOptions) -> Sketch {
    let device = &trace.devices[0];
    flame_picture(trace, (device, &Timeline::new(trace, device)), options, &Theme::light())
}

/// Sums the widths in pixels of the boxes in a row, with their gaps.
fn row_pixels(sketch: &Sketch, row: u32) -> f64 {
    let top = ABOVE + f64::from(row) * ROW;
    let boxes = sketch.ops.iter().flat_map(|op| match op {
        Op::Boxes { boxes, .. } => boxes.as_slice(),
        _ => &[],
    });
    boxes.filter(|rect| (rect.y - top).abs() < 0.01 && rect.width > 0.0).map(|rect| rect.width + GAP).sum()
}

#[test]
fn boxes_are_named_and_the_title_has_all_bytes() {
    let trace = text::parse(TRACE).unwrap();
    let sketch = drawn(&trace, &MomentOptions { title: "run · GPU 0 · live".to_owned(), ..MomentOptions::default() });
    let words = words(&sketch);
    let figures = "100 MiB live at the peak, after event 2, in 3 allocations";
    for part in ["run · GPU 0 · live", figures, "All", "100 MiB", "main", "step", "load", "relu", "mm"] {
        assert!(words.contains(&part), "{part} in {words:?}");
    }
    // `load` allocates directly, so that the row below it is empty there.
    let across = 1200.0 - 2.0 * MARGIN;
    let shares = [1.0, 1.0, 1.0, 0.8].map(|share| share * across);
    for (row, pixels) in shares.into_iter().enumerate() {
        assert!((row_pixels(&sketch, row as u32) - pixels).abs() < 0.01, "row {row}");
    }
}

#[test]
fn another_moment_has_its_own_bytes() {
    let trace = text::parse(TRACE).unwrap();
    for (moment, figures) in
        [(0, "0 B live before the first event in 0 allocations"), (4, "70.0 MiB live after event 3 in 2 allocations")]
    {
        let sketch = drawn(&trace, &MomentOptions { moment: Some(moment), ..MomentOptions::default() });
        assert!(words(&sketch).contains(&figures), "{:?}", words(&sketch));
    }
}

/// Children lie within their parents, and their bytes and the parent's own bytes add up to the parent's total.
#[test]
fn parts_add_up_to_their_parents() {
    for seed in 0..20 {
        let trace = naive::random_trace(seed, 400);
        let timeline = Timeline::new(&trace, &trace.devices[0]);
        let moment = timeline.live_peak().0;
        let tree = tree_at(&trace, &trace.devices[0], &timeline, moment);
        let total = tree.nodes()[0].total.weight;
        assert_eq!(total, timeline.allocations.alive_at(moment).map(|(_, bytes)| bytes).sum::<u64>());
        let across = 1e12;
        let cuts = cut(&tree, None, across);
        let placed = Placed { cuts: &cuts, total, across, row: ROW, shown: u32::MAX };
        for (index, parent) in cuts.iter().enumerate() {
            let outer = placed.place(parent);
            let children: Vec<&Cut> =
                cuts.iter().skip(1).filter(|cut| cut.parent as usize == index && cut.depth > parent.depth).collect();
            let of_children: u64 = children.iter().map(|cut| cut.total.weight).sum();
            assert_eq!(of_children + parent.own.weight, parent.total.weight, "seed {seed}, box {index}");
            for child in children {
                let inner = placed.place(child);
                assert!(inner.x >= outer.x - 1e-3 && inner.right() <= outer.right() + 1e-3, "seed {seed}, box {index}");
            }
        }
    }
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
fn rows_without_room_are_counted() {
    let stack: Vec<String> = (0..30).map(|depth| format!("f{depth}")).collect();
    let trace = text::parse(&format!("alloc a 1MiB @{}", stack.join("<"))).unwrap();
    let whole = drawn(&trace, &MomentOptions::default());
    assert_eq!(whole.height, ABOVE + 31.0 * ROW + MARGIN);
    let small = drawn(&trace, &MomentOptions { height: Some(240), ..MomentOptions::default() });
    // Of 31 rows, (240 - 82 - 18) / 14 fit.
    let missing = "1.00 MiB live at the peak, after event 0, in 1 allocation · 21 deeper rows not shown";
    assert!(words(&small).contains(&missing), "{:?}", words(&small));
}

#[test]
fn an_empty_trace_has_a_picture_too() {
    let sketch = drawn(&text::parse("").unwrap(), &MomentOptions::default());
    let figures = "0 B live at the peak, before the first event, in 0 allocations";
    assert!(words(&sketch).contains(&figures), "{:?}", words(&sketch));
    assert_eq!(sketch.height, 240.0);
}
