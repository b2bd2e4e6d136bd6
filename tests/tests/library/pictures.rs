//! Checks that each stored snapshot's picture covers exactly the area under its outline, at several zooms.

use shared::analysis::{Axis, Band, BandOwner, CurveStep, Picture, PictureRequest, Timeline};
use shared::trace::{Device, Trace};
use testkit::corpus::samples;

/// Views as fractions of the axis and of the peak.
const VIEWS: [((f64, f64), (f64, f64)); 5] = [
    ((0.0, 1.0), (0.0, 1.1)),
    ((0.0, 1.0), (0.7, 0.72)),
    ((0.4, 0.6), (0.0, 1.0)),
    ((0.5, 0.503), (0.2, 0.9)),
    ((-0.5, 1.5), (-0.2, 2.0)),
];

fn request(timeline: &Timeline, axis: Axis, (x, y): ((f64, f64), (f64, f64))) -> PictureRequest {
    let (x_end, y_end) = (timeline.x_end(axis), timeline.live_peak().1 as f64 + 1.0);
    let (x0, x1, y0, y1) = (x.0 * x_end, x.1 * x_end, y.0 * y_end, y.1 * y_end);
    PictureRequest { axis, x0, x1, y0, y1, width_px: 700, height_px: 300 }
}

/// Returns the fraction of the view's height that the bands fill from an outline step to the next.
fn filled(picture: &Picture, step: &CurveStep) -> f64 {
    let covers = |band: &&Band| band.x0 <= step.x && step.x < band.x1;
    picture.bands.iter().filter(covers).map(|band| f64::from(band.y1) - f64::from(band.y0)).sum()
}

/// Checks the pictures of a device: the bands of each view, and the peaks of the whole.
fn check(trace: &Trace, device: &Device, name: &str) {
    let timeline = Timeline::new(trace, device);
    for axis in [Axis::Events, Axis::Time] {
        for view in VIEWS {
            let request = request(&timeline, axis, view);
            let picture = timeline.picture(device, &request);
            for step in &picture.live {
                let y = (step.bytes as f64 - request.y0) / (request.y1 - request.y0);
                let bottom = (-request.y0 / (request.y1 - request.y0)).clamp(0.0, 1.0);
                let expected = y.clamp(0.0, 1.0) - bottom;
                let found = filled(&picture, step);
                assert!((found - expected).abs() < 1e-4, "{name}: {found} of {expected} at {step:?} in {request:?}");
            }
            if axis == Axis::Events {
                check_bands(&picture, &request, name);
            }
        }
    }
}

/// Checks that a slice has few bands, and that all but the initial one have a color.
#[track_caller]
fn check_bands(picture: &Picture, request: &PictureRequest, name: &str) {
    for step in &picture.live {
        let count = picture.bands.iter().filter(|band| band.x0 <= step.x && step.x < band.x1).count();
        let most = f64::from(request.height_px) * 1.6 + 5.0;
        assert!(count as f64 <= most, "{name}: {count} bands at {step:?} in {request:?}");
    }
    let has_color = |band: &Band| (band.color != 0) == (band.owner != BandOwner::Initial);
    assert!(picture.bands.iter().all(has_color), "{name}");
}

#[test]
fn bands_fill_the_area_under_the_outline_and_each_has_its_color() {
    for sample in samples() {
        let trace = sample.trace();
        for device in trace.devices.iter().chain(&trace.host) {
            check(&trace, device, &sample.name);
        }
    }
}

#[test]
fn the_whole_picture_shows_both_peaks() {
    for sample in samples() {
        let trace = sample.trace();
        for device in &trace.devices {
            let timeline = Timeline::new(&trace, device);
            for axis in [Axis::Events, Axis::Time] {
                let picture = timeline.picture(device, &request(&timeline, axis, VIEWS[0]));
                let highest = |steps: &[CurveStep]| steps.iter().map(|step| step.bytes).max();
                assert_eq!(highest(&picture.live), Some(timeline.live_peak().1), "{}", sample.name);
                assert_eq!(highest(&picture.reserved), Some(timeline.reserved_peak().1), "{}", sample.name);
            }
        }
    }
}
