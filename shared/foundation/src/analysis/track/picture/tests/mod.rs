//! Compares pictures with naive ones, which list the whole stack in every slice.

mod emphasis;
mod extremes;
mod groups;
mod naive_ladder;
mod seen;

use super::*;
use crate::analysis::naive;
use crate::analysis::naive::Random;
use crate::analysis::track::category::Category;
use crate::analysis::track::timeline::Axis;
use crate::trace::{Action, Event, EventContext, StackId, Trace, text};
use naive_ladder::NaiveLadder;

/// Checks a picture in the colours of call stacks, with and without preparation, and in those of categories.
#[track_caller]
fn check_picture(trace: &Trace, request: &PictureRequest) {
    let device = &trace.devices[0];
    let timeline = Timeline::new(trace, device);
    check_coloring(device, &timeline, request, Coloring::Stack);
    timeline.prepare(device, request.axis);
    check_coloring(device, &timeline, request, Coloring::Stack);
    let categories: Vec<_> = timeline.allocations.ids().map(|id| Category::ALL[id.index() * 7 % 10]).collect();
    check_coloring(device, &timeline, request, Coloring::Category(&categories));
}

/// Compares every slice with the naive one, limits its number of bands, and compares the outlines with the curves.
#[track_caller]
fn check_coloring(device: &Device, timeline: &Timeline, request: &PictureRequest, coloring: Coloring<'_>) {
    let picture = timeline.picture_emphasizing(device, request, coloring, Emphasis::default());
    let slices = Slices::new(timeline, device, request);
    assert!(slices.len() <= 2 * request.width_px as usize + 3, "{} slices", slices.len());
    let value_at = |steps: &[CurveStep], x: f32| steps.iter().rev().find(|step| step.x <= x).unwrap().bytes;
    let mut ladder = NaiveLadder::new(timeline, device, request, coloring);
    let expected: Vec<_> = slices.shown.iter().map(|&moment| ladder.at(moment)).collect();
    for (slice, &moment) in slices.shown.iter().enumerate() {
        let (x0, x1) = (slices.edges[slice], slices.edges[slice + 1]);
        if x0 == x1 {
            continue;
        }
        let covers = |band: &&Band| band.x0 <= x0 && band.x1 >= x1;
        let mut bands: Vec<_> =
            picture.bands.iter().filter(covers).map(|band| (band.owner, band.y0, band.y1, band.color)).collect();
        bands.sort_by(|a, b| a.1.total_cmp(&b.1));
        let expected: Vec<_> = expected[slice]
            .iter()
            .map(|&(owner, y0, y1, tint)| {
                (owner, y0, y1, if owner == BandOwner::Initial { 0 } else { ladder.color(tint) })
            })
            .collect();
        assert_eq!(bands, expected, "slice {slice} of {request:?}");
        assert!(bands.len() as f64 <= 1.6 * f64::from(request.height_px) + 5.0, "{} bands", bands.len());
        let x = request.x0 + f64::from(x0 + x1) / 2.0 * (request.x1 - request.x0);
        let units_per_px = (request.x1 - request.x0) / f64::from(request.width_px);
        assert_eq!(timeline.moment_shown_at(device, request.axis, x, units_per_px), moment, "x = {x} of {request:?}");
        assert_eq!(value_at(&picture.live, x0), timeline.live_at(moment));
        assert_eq!(value_at(&picture.reserved, x0), slices.reserved_bytes[slice]);
    }
    // Every band covers whole slices, so that none lies between those that were compared.
    for band in &picture.bands {
        assert!(slices.edges.contains(&band.x0) && slices.edges.contains(&band.x1), "{band:?}");
    }
}

fn random_request(random: &mut Random, timeline: &Timeline) -> PictureRequest {
    let axis = if random.below(2) == 0 { Axis::Events } else { Axis::Time };
    let (x_end, y_end) = (timeline.x_end(axis), timeline.live_peak().1 as f64 + 2.0);
    let mut range = |end: f64| {
        let (a, b) = (random.below(1000) as f64 / 900.0 - 0.05, random.below(1000) as f64 / 900.0 - 0.05);
        let zoom = [1.0, 1.0, 0.1, 0.01][random.below(4) as usize];
        (a * end, (a + ((b - a).abs() + 0.001) * zoom) * end)
    };
    let ((x0, x1), (y0, y1)) = (range(x_end), range(y_end));
    let (width_px, height_px) = (1 + random.below(300) as u32, 1 + random.below(200) as u32);
    PictureRequest { axis, x0, x1, y0, y1, width_px, height_px }
}

#[test]
fn random_pictures_agree_with_the_obvious_ones() {
    for seed in 0..150 {
        let (trace, timeline) = naive::timed(naive::random_trace(seed, [5, 100, 400, 1500][seed as usize % 4]));
        let mut random = Random::new(seed);
        for _ in 0..4 {
            check_picture(&trace, &random_request(&mut random, &timeline));
        }
    }
}

#[test]
fn slices_show_the_highest_moment_of_their_time() {
    for seed in 0..40 {
        let (trace, timeline) = naive::timed(naive::random_trace(seed, 300));
        let device = &trace.devices[0];
        let mut request = random_request(&mut Random::new(seed), &timeline);
        request.axis = Axis::Time;
        (request.x0, request.x1, request.width_px) = (0.0, timeline.x_end(Axis::Time), 1 + seed as u32);
        let slices = Slices::new(&timeline, device, &request);
        let peak = slices.live_bytes.iter().copied().max();
        assert_eq!(peak, Some(timeline.live_peak().1), "seed {seed}: a tie in time hides no peak");
        let reserved = slices.reserved_bytes.iter().copied().max();
        assert_eq!(reserved, Some(timeline.reserved_peak().1), "seed {seed}");
    }
}

const WORKED_EXAMPLE: &str = "
    alloc a 2
    alloc b 1
    alloc c 3
    free_completed b
    free_completed a
";

fn worked_example(x0: f64, x1: f64) -> (Picture, PictureRequest) {
    let trace = text::parse(WORKED_EXAMPLE).unwrap();
    let device = &trace.devices[0];
    let request = PictureRequest { axis: Axis::Events, x0, x1, y0: 0.0, y1: 8.0, width_px: 80, height_px: 8 };
    (Timeline::new(&trace, device).picture(device, &request), request)
}

#[test]
fn the_worked_example() {
    let (picture, _) = worked_example(0.0, 8.0);
    let mut bands: Vec<_> = picture
        .bands
        .iter()
        .map(|band| {
            let name = match band.owner {
                BandOwner::Allocation(id) => ["a", "b", "c"][id.index()],
                BandOwner::Merged => "merged",
                BandOwner::Initial => "initial",
                BandOwner::Area => "area",
            };
            let [x0, x1, y0, y1] = [band.x0, band.x1, band.y0, band.y1].map(|edge| edge * 8.0);
            format!("{name} {x0}..{x1} {y0}..{y1}")
        })
        .collect();
    bands.sort();
    assert_eq!(bands, ["a 1..5 0..2", "c 3..4 3..6", "c 4..5 2..5", "c 5..6 0..3", "merged 2..4 2..3"]);
    let steps: Vec<_> = picture.live.iter().map(|step| (step.x * 8.0, step.bytes)).collect();
    assert_eq!(steps, [(0.0, 0), (1.0, 2), (2.0, 3), (3.0, 6), (4.0, 5), (5.0, 3), (6.0, 0)]);
}

#[test]
fn the_worked_example_of_the_slices() {
    let trace = text::parse(
        "
        alloc a 1
        alloc b 2
        free_completed a
        snapshot
        alloc c 2
        free_completed c
        alloc d 3
        snapshot
        ",
    )
    .unwrap();
    let device = &trace.devices[0];
    let timeline = Timeline::new(&trace, device);
    let live: Vec<_> = (0..=8).map(|moment| timeline.live_at(moment)).collect();
    assert_eq!(live, [0, 1, 3, 2, 2, 4, 2, 5, 5]);
    let request = PictureRequest { axis: Axis::Events, x0: 1.5, x1: 7.5, y0: 0.0, y1: 8.0, width_px: 3, height_px: 8 };
    assert_eq!(Slices::new(&timeline, device, &request).shown, [1, 2, 5, 7]);
}

#[test]
fn a_request_beyond_the_trace_or_without_extent_is_empty() {
    for (x0, x1) in [(6.0, 9.0), (-3.0, 0.0), (2.0, 2.0), (3.0, 2.0), (f64::NAN, 2.0), (0.0, f64::INFINITY)] {
        assert_eq!(worked_example(x0, x1).0, Picture::default(), "{x0}..{x1}");
    }
}

#[test]
fn panning_shows_the_same_slices() {
    let (trace, timeline) = naive::timed(naive::random_trace(5, 5000));
    let device = &trace.devices[0];
    let at = |x0: f64| {
        let request =
            PictureRequest { axis: Axis::Events, x0, x1: x0 + 2000.0, y0: 0.0, y1: 1e5, width_px: 300, height_px: 200 };
        Slices::new(&timeline, device, &request).shown
    };
    let (here, there) = (at(1000.0), at(1004.7));
    // Slices are 4 moments wide: one disappears on the left, and one appears on the right.
    assert_eq!(here[1..], there[..here.len() - 1]);
}

#[test]
fn without_a_height_only_the_outlines_are_drawn() {
    let (trace, timeline) = naive::timed(text::parse(WORKED_EXAMPLE).unwrap());
    let device = &trace.devices[0];
    let (whole, request) = worked_example(0.0, 8.0);
    let outlines = timeline.picture(device, &PictureRequest { height_px: 0, ..request });
    assert_eq!(outlines, Picture { bands: Vec::new(), ..whole });
}

#[test]
fn figures_that_no_machine_has_do_not_panic() {
    const EXTREMES: [u64; 6] = [0, 1, 1 << 40, i64::MAX as u64, 1 << 63, u64::MAX];
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let mut trace = text::parse("device 0\nsegment s 1KiB\nblock b 1KiB").unwrap();
        let mut extreme = || EXTREMES[random.below(6) as usize];
        let mut actions = Random::new(seed + 1);
        let segments = &mut trace.devices[0].segments;
        (segments.segments[0].size_bytes, segments.blocks[0].size_bytes) = (extreme(), extreme());
        let context = trace.contexts.intern(EventContext::default());
        for _ in 0..300 {
            let (addr, size_bytes, time_us) = (extreme(), extreme(), extreme() as i64);
            let action = Action::ALL[actions.below(7) as usize];
            let event = Event { action, addr, size_bytes, time_us, stack: StackId::NONE, context };
            trace.devices[0].events.push(event);
        }
        let timeline = Timeline::new(&trace, &trace.devices[0]);
        for axis in [Axis::Events, Axis::Time] {
            let (x1, y1) = (timeline.x_end(axis), timeline.live_peak().1 as f64 + 1.0);
            let request = PictureRequest { axis, x0: 0.0, x1, y0: 0.0, y1, width_px: 90, height_px: 50 };
            check_picture(&trace, &request);
            check_picture(&trace, &PictureRequest { x0: -1e300, x1: 1e300, y1: 1e300, ..request });
            check_picture(&trace, &PictureRequest { x0: x1 / 3.0, x1: x1 / 2.0, y0: y1 / 2.0, ..request });
        }
    }
}
