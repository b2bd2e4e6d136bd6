//! Checks pictures of extreme ranges: an event and less, the whole trace and far more, and empty ones.

use super::*;

/// Returns a random one of several extreme ranges of an axis from 0 to `end`.
fn extreme_range(random: &mut Random, end: f64) -> (f64, f64) {
    let at = random.below(1001) as f64 / 1000.0 * end;
    match random.below(7) {
        0 => (0.0, end),
        1 => (-1.0, end + 1.0),
        2 => (-1e3 * end, 1e6 * end),
        3 => (at.floor(), at.floor() + 1.0),
        4 => (at, at + 1e-3),
        5 => (end - 1e-3, end + 5.0),
        _ => (at, at),
    }
}

/// Checks that the bands of each slice add up to the live bytes in view, computed from all lifetimes.
#[track_caller]
fn check_sums(trace: &Trace, request: &PictureRequest) {
    let device = &trace.devices[0];
    let timeline = Timeline::new(trace, device);
    let live_bytes = naive::live_bytes(&naive::lifetimes(device), timeline.events());
    let (picture, slices) = (timeline.picture(device, request), Slices::new(&timeline, device, request));
    let height = request.y1 - request.y0;
    for (edges, &moment) in slices.edges.windows(2).zip(&slices.shown).filter(|(edges, _)| edges[0] < edges[1]) {
        let covers = |band: &&Band| band.x0 <= edges[0] && band.x1 >= edges[1];
        let sum: f64 = picture.bands.iter().filter(covers).map(|band| f64::from(band.y1) - f64::from(band.y0)).sum();
        let share = |bytes: f64| ((bytes - request.y0) / height).clamp(0.0, 1.0);
        let expected = share(live_bytes[moment as usize] as f64) - share(0.0);
        assert!((sum - expected).abs() < 1e-5, "{sum}, not {expected}, at moment {moment} of {request:?}");
    }
}

#[test]
fn two_hundred_extreme_ranges_are_exact() {
    for seed in 0..200 {
        let (trace, timeline) = naive::timed(naive::random_trace(seed, [1, 2, 30, 300][seed as usize % 4]));
        let mut random = Random::new(seed);
        let axis = if random.below(2) == 0 { Axis::Events } else { Axis::Time };
        let (x0, x1) = extreme_range(&mut random, timeline.x_end(axis));
        let (y0, y1) = extreme_range(&mut random, timeline.live_peak().1 as f64 + 2.0);
        let (width_px, height_px) = (1 + random.below(300) as u32, 1 + random.below(200) as u32);
        let request = PictureRequest { axis, x0, x1, y0, y1, width_px, height_px };
        if y0 < y1 {
            check_picture(&trace, &request);
            check_sums(&trace, &request);
        } else {
            let flat = timeline.picture(&trace.devices[0], &request);
            assert!(flat.bands.is_empty(), "nothing is as high as nothing");
            let outlines = PictureRequest { height_px: 0, ..request };
            assert_eq!(flat, timeline.picture(&trace.devices[0], &outlines));
        }
        if x0 == x1 {
            assert_eq!(timeline.picture(&trace.devices[0], &request), Picture::default());
        }
    }
}
