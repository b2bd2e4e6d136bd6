//! Compares pictures with selected allocations with those without, and with naive sums.

use super::*;
use crate::analysis::track::allocations::AllocationId;
use crate::analysis::track::members::Members;

/// Returns bands as comparable numbers, in an order of their own.
fn sorted(bands: &[Band]) -> Vec<[u32; 4]> {
    let mut all: Vec<_> = bands.iter().map(|band| [band.x0, band.y0, band.x1, band.y1].map(f32::to_bits)).collect();
    all.sort_unstable();
    all
}

#[track_caller]
fn check(seed: u64, height_px: u32) {
    let (trace, timeline) = naive::timed(naive::random_trace(seed, 400));
    let device = &trace.devices[0];
    let mut random = Random::new(seed);
    let ids: Vec<_> = timeline.allocations.ids().filter(|_| random.below(3) == 0).collect();
    let members = Members::new(&timeline, ids);
    let request = PictureRequest { height_px, ..random_request(&mut random, &timeline) };
    let emphasis = Emphasis { members: Some(&members), apart: None };
    let picture = timeline.picture_emphasizing(device, &request, Coloring::Stack, emphasis);
    let plain = timeline.picture(device, &request);
    assert_eq!((&picture.live, &picture.reserved), (&plain.live, &plain.reserved));
    for band in &picture.bands {
        if let BandOwner::Allocation(id) = band.owner {
            assert_eq!(band.is_other, !members.contains(id), "seed {seed}");
        }
    }
    let area = |bands: &[Band]| -> f64 {
        bands.iter().map(|band| f64::from(band.x1 - band.x0) * f64::from(band.y1 - band.y0)).sum()
    };
    assert!((area(&picture.bands) - area(&plain.bands)).abs() < 1e-4, "seed {seed}: every byte is drawn");
    let slices = Slices::new(&timeline, device, &request);
    for (slice, &x) in slices.edges.iter().enumerate().take(slices.len()) {
        let step = picture.own.iter().rev().find(|step| step.x <= x).unwrap();
        assert!(step.bytes >= members.bytes_at(slices.shown[slice]), "seed {seed}: the curve is above each moment");
    }
}

#[test]
fn selected_bytes_keep_their_places() {
    for seed in 0..60 {
        check(seed, 40);
        check(seed, 4000);
    }
}

#[test]
fn the_area_of_a_group_is_divided_like_its_bytes() {
    // One pixel per 100 bytes: both are small, live equally long, and share a group.
    let (trace, timeline) = naive::timed(text::parse("alloc a 90 @f\nalloc b 30 @g\nsnapshot\nsnapshot").unwrap());
    let device = &trace.devices[0];
    let members = Members::new(&timeline, vec![AllocationId::from_index(1)]);
    let request =
        PictureRequest { axis: Axis::Events, x0: 2.0, x1: 5.0, y0: 0.0, y1: 1000.0, width_px: 3, height_px: 10 };
    let emphasis = Emphasis { members: Some(&members), apart: None };
    let picture = timeline.picture_emphasizing(device, &request, Coloring::Stack, emphasis);
    let parts: Vec<_> = picture.bands.iter().map(|band| (band.owner, band.is_other, band.y0, band.y1)).collect();
    // Lifetimes are 4 and 3 moments, so the selected one has 90 of 450.
    let share = 0.12 * 90.0 / 450.0;
    assert_eq!(parts.len(), 2, "{parts:?}");
    assert_eq!((parts[0].0, parts[0].1, parts[1].0, parts[1].1), (BandOwner::Merged, false, BandOwner::Merged, true));
    assert!((parts[0].3 - share).abs() < 1e-6 && parts[1].2 == parts[0].3 && parts[1].3 == 0.12, "{parts:?}");
    assert_eq!(picture.own.iter().map(|step| step.bytes).collect::<Vec<_>>(), [30]);
}

#[test]
fn an_allocation_that_is_set_apart_is_never_merged() {
    let (trace, timeline) = naive::timed(text::parse("alloc a 90 @f\nalloc b 1 @g\nalloc c 90 @f\nsnapshot").unwrap());
    let device = &trace.devices[0];
    let b = AllocationId::from_index(1);
    for y1 in [1000.0, 1e15] {
        let request = PictureRequest { axis: Axis::Events, x0: 0.0, x1: 5.0, y0: 0.0, y1, width_px: 5, height_px: 10 };
        let emphasis = Emphasis { members: None, apart: Some(b) };
        let picture = timeline.picture_emphasizing(device, &request, Coloring::Stack, emphasis);
        let own: Vec<_> = picture.bands.iter().filter(|band| band.owner == BandOwner::Allocation(b)).collect();
        assert!(!own.is_empty() && own.iter().all(|band| band.y0 <= band.y1), "{:?}", picture.bands);
        assert!(timeline.picture(device, &request).bands.iter().all(|band| band.owner == BandOwner::Merged));
    }
}

#[test]
fn without_a_selection_nothing_changes() {
    for seed in 0..20 {
        let (trace, timeline) = naive::timed(naive::random_trace(seed, 300));
        let device = &trace.devices[0];
        let request = random_request(&mut Random::new(seed), &timeline);
        let all = Members::new(&timeline, timeline.allocations.ids().collect());
        let plain = timeline.picture(device, &request);
        let emphasis = Emphasis { members: Some(&all), apart: None };
        let picture = timeline.picture_emphasizing(device, &request, Coloring::Stack, emphasis);
        assert_eq!(sorted(&picture.bands), sorted(&plain.bands), "seed {seed}");
        assert!(picture.bands.iter().all(|band| !band.is_other) && plain.own.is_empty());
        let shown: Vec<_> = picture.own.iter().map(|step| step.bytes).collect();
        assert_eq!(shown, plain.live.iter().map(|step| step.bytes).collect::<Vec<_>>(), "seed {seed}");
    }
}
