//! Tests that pictures which skip unseen allocations show what the others show.

use super::super::slices::Slices;
use crate::analysis::naive;
use crate::analysis::track::picture::PictureRequest;
use crate::analysis::track::timeline::{Axis, Timeline};
use crate::trace::{Trace, text};
use std::collections::BTreeSet;

/// Returns the moments of the whole trace that the grid of `1 << bits` units shows.
fn shown(trace: &Trace, timeline: &Timeline, axis: Axis, bits: u32) -> BTreeSet<u32> {
    let device = &trace.devices[0];
    let x1 = timeline.x_end(axis);
    let pixels = (x1 / f64::from(1_u32 << bits)).floor().max(1.0);
    let request = PictureRequest {
        axis,
        x0: 0.0,
        x1: pixels * f64::from(1_u32 << bits),
        y0: 0.0,
        y1: 1.0,
        width_px: pixels as u32,
        height_px: 1,
    };
    let slices = Slices::new(timeline, device, &request);
    assert_eq!(slices.bits, bits, "{request:?}");
    // The last slice may begin after the last whole pixel.
    let rest = Slices::new(timeline, device, &PictureRequest { x0: x1 - 1.0, x1: x1 - 1.0 + request.x1, ..request });
    slices.shown.into_iter().chain(rest.shown).collect()
}

#[track_caller]
fn check(trace: &Trace, axis: Axis) {
    let device = &trace.devices[0];
    let timeline = Timeline::new(trace, device);
    timeline.prepare(device, axis);
    let seen = timeline.seen(axis).expect("it was prepared");
    let allocations = &timeline.allocations;
    let bits = (0..15).take_while(|&bits| f64::from(1_u32 << bits) <= timeline.x_end(axis));
    for bits in bits {
        let shown = shown(trace, &timeline, axis, bits);
        let is_seen = |row: &usize| {
            let row = allocations.get(crate::analysis::AllocationId::from_index(*row), device);
            shown.range(row.born..row.died).next().is_some()
        };
        let expected: Vec<usize> = (0..allocations.len()).filter(is_seen).collect();
        let found: Vec<usize> = seen.rows(0..allocations.len(), bits).collect();
        assert_eq!(found, expected, "{axis:?}, grid {bits}");
        let ends: Vec<usize> = seen.deaths(0..allocations.deaths.len(), bits).collect();
        let is_end = |death: &usize| expected.binary_search(&(allocations.deaths[*death] as usize)).is_ok();
        assert_eq!(ends, (0..allocations.deaths.len()).filter(is_end).collect::<Vec<_>>());
    }
}

#[test]
fn who_is_seen_is_who_lives_at_a_moment_that_slices_show() {
    for seed in 0..120 {
        let trace = naive::random_trace(seed, [1, 8, 90, 700][seed as usize % 4]);
        check(&trace, Axis::Events);
        check(&trace, Axis::Time);
    }
}

#[test]
fn pauses_show_what_lives_through_them() {
    for pause in [1, 2, 3, 7, 8, 9, 64, 1000] {
        let text =
            format!("alloc a 1 t=5\nalloc b 9 t=6\nfree b t=7\nalloc c 2 t={}\nfree c t={}", 7 + pause, 9 + pause);
        check(&text::parse(&text).unwrap(), Axis::Time);
    }
}
