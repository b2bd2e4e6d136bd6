//! Compares the preview with a curve computed event by event.

#![expect(clippy::single_range_in_vec_init, reason = "lists of one range are what is tested")]

use super::*;

/// Returns the highest live bytes per bucket, minus those of the first moment.
fn naive(bytes: &[i64], bucket_moments: u64) -> Vec<i64> {
    bytes.chunks(bucket_moments as usize).map(|bucket| bucket.iter().copied().max().unwrap()).collect()
}

#[test]
fn the_worked_example() {
    let mut curve = Curve::new();
    [5, 3, -5, 1].into_iter().for_each(|delta| curve.step(delta));
    assert_eq!(curve.highest, [0, 5, 8, 3, 4]);
    curve.bits = 0;
    assert_eq!(naive(&[0, 5, 8, 3, 4], 4), [8, 4]);
    assert_eq!(curve.peak, (2, 8));
}

#[test]
fn a_prefix_is_the_curve_of_the_prefix() {
    let mut curve = Curve::new();
    let mut bytes = vec![0_i64];
    let mut state = 7_u64;
    for event in 1..3 * MOST_BUCKETS as u64 * 2 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let delta = (state >> 33) as i64 % 2000 - 1000;
        curve.step(delta);
        bytes.push(bytes[bytes.len() - 1] + delta);
        if event % 311 == 0 || event.is_power_of_two() {
            assert!(curve.highest.len() <= MOST_BUCKETS);
            assert_eq!(curve.highest, naive(&bytes, 1 << curve.bits), "after event {event}");
            let peak = bytes.iter().copied().max().unwrap();
            let moment = bytes.iter().position(|&at| at == peak).unwrap() as u64;
            assert_eq!(curve.peak, (moment, peak));
        }
    }
}

fn watched(pieces: &[&[Range<u32>]], claims: impl Fn(&mut Watch)) -> Watch {
    let mut watch = Watch::default();
    for row in pieces.iter().flat_map(|rows| rows.iter().cloned()).flatten() {
        watch.event(row, Action::Alloc, 1);
    }
    claims(&mut watch);
    watch
}

#[test]
fn events_go_to_the_list_that_takes_them() {
    let rows = 0..6;
    let watch = watched(&[&[rows]], |watch| {
        // A list of one event is closed together with the list around it, after the list behind it.
        watch.list(0, &[1..4]);
        watch.extend(0, &[1..6]);
        watch.list(1, &[0..1]);
    });
    assert!(!watch.is_odd());
    let rows: Vec<_> = watch.traces().into_iter().map(|trace| (trace.rows, trace.events, trace.last_bytes)).collect();
    assert_eq!(rows, [(0..1, 1, 1), (1..6, 5, 5)]);
}

#[test]
fn a_long_list_is_followed_before_it_is_closed() {
    let end = 3 * MOST_WAITING as u32;
    let mut watch = Watch::default();
    (0..end).for_each(|row| watch.event(row, Action::Alloc, 1));
    assert!(watch.traces()[0].events > 2 * MOST_WAITING as u64);
    watch.list(4, &[0..end]);
    (end..end + 3).for_each(|row| watch.event(row, Action::FreeCompleted, 1));
    watch.list(5, &[end..end + 3]);
    assert!(!watch.is_odd());
    let traces = watch.traces();
    assert_eq!((traces[0].events, traces[0].last_bytes), (u64::from(end), i64::from(end)));
    assert_eq!((traces[1].events, traces[1].last_bytes), (3, -3));
}

#[test]
fn lists_that_no_snapshot_has_are_odd() {
    assert!(watched(&[&[0..5]], |watch| watch.list(0, &[0..2, 3..4])).is_odd());
    assert!(watched(&[&[0..5]], |watch| watch.extend(3, &[0..5])).is_odd());
    assert!(watched(&[&[0..2]], |watch| watch.list(0, &[0..5])).is_odd());
}
