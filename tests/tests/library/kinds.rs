//! Checks the bytes and the picture of selected allocations on each stored snapshot against sums over all lifetimes.

use shared::analysis::{
    AllocationId, Axis, Band, BandOwner, Coloring, Emphasis, Members, Picture, PictureRequest, Timeline, live_by_stack,
};
use shared::trace::{Device, StackId, Trace};
use testkit::corpus::samples;

/// Number of moments at which the bytes are compared.
const MOMENTS: u32 = 50;

/// Returns the allocations with a stack, found by looking at all of them.
fn with_stack(device: &Device, timeline: &Timeline, stack: StackId) -> Vec<AllocationId> {
    let has_stack = |id: &AllocationId| timeline.allocations.allocation_stack(*id, device) == stack;
    timeline.allocations.ids().filter(has_stack).collect()
}

fn bytes_at(timeline: &Timeline, ids: &[AllocationId], moment: u32) -> u64 {
    let alive = timeline.allocations.alive_at(moment).filter(|(id, _)| ids.binary_search(id).is_ok());
    alive.map(|(_, size_bytes)| size_bytes).sum()
}

fn area(bands: &[Band], is_counted: impl Fn(&&Band) -> bool) -> f64 {
    let size = |band: &Band| f64::from(band.x1 - band.x0) * f64::from(band.y1 - band.y0);
    bands.iter().filter(is_counted).map(size).sum()
}

#[track_caller]
fn check(trace: &Trace, device: &Device, name: &str) {
    let timeline = Timeline::new(trace, device);
    let (peak, peak_bytes) = timeline.live_peak();
    let rows = live_by_stack(device, &timeline.allocations, peak);
    let Some(stack) = rows.first().map(|row| row.stack).filter(|_| peak_bytes > 0) else { return };
    let ids = with_stack(device, &timeline, stack);
    let members = Members::new(&timeline, ids.clone());
    assert_eq!(members.ids(), ids);
    for step in 0..=MOMENTS {
        let moment = (u64::from(timeline.events()) * u64::from(step) / u64::from(MOMENTS)) as u32;
        assert_eq!(members.bytes_at(moment), bytes_at(&timeline, &ids, moment), "{name}, moment {moment}");
    }
    assert!(members.max_in(0..u32::MAX).1 >= members.bytes_at(peak));

    for axis in [Axis::Events, Axis::Time] {
        let (x1, y1) = (timeline.x_end(axis), peak_bytes as f64 * 1.05);
        let request = PictureRequest { axis, x0: 0.0, x1, y0: 0.0, y1, width_px: 700, height_px: 300 };
        let emphasis = Emphasis { members: Some(&members), apart: None };
        let picture: Picture = timeline.picture_emphasizing(device, &request, Coloring::Stack, emphasis);
        let plain = timeline.picture(device, &request);
        let (all, before) = (area(&picture.bands, |_| true), area(&plain.bands, |_| true));
        assert!((all - before).abs() < 1e-3, "{name}: {all} of {before}: every byte is drawn");
        for band in &picture.bands {
            if let BandOwner::Allocation(id) = band.owner {
                assert_eq!(band.is_other, !members.contains(id), "{name}: {band:?}");
            }
        }
        let most = picture.own.iter().map(|step| step.bytes).max();
        assert_eq!(most, Some(members.max_in(0..u32::MAX).1), "{name}: the curve loses no peak");
    }
}

#[test]
fn a_kind_has_its_bytes_and_its_bands() {
    for sample in samples() {
        let trace = sample.trace();
        for device in trace.devices.iter().chain(&trace.host) {
            check(&trace, device, &sample.name);
        }
    }
}
