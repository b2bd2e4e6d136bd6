//! Checks that what two neighbouring views of a timeline share is the same in both: nothing pops up or jumps.
//!
//! Every picture is compared with the stack computed from all lifetimes, and with the picture of the previous view,
//! which is zoomed out by 5 % about a fixed place or moved by a pixel.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use shared::analysis::{AllocationId, Axis, Band, BandOwner, CurveStep, Picture, PictureRequest, Timeline};
use shared::pickle::Style;
use shared::trace::{Device, Trace};
use testkit::corpus::{decode, samples};
use testkit::generator::{Config, Random, generate_vec};

/// Width and height of a picture in device pixels.
const SIZE: (u32, u32) = (300, 200);

/// Height in pixels from which an allocation is a band of its own.
const BAND_PX: f64 = 1.25;

/// Factor of a zoom step.
const CLOSER: f64 = 0.95;

const STEPS: usize = 14;

/// Fractions of the axis and of the peak that the first view shows.
const STARTS: [(f64, f64); 4] = [(1.0, 1.1), (0.2, 1.1), (0.02, 0.3), (0.001, 0.05)];

/// Number of columns of a picture that are compared with lifetimes.
const COLUMNS: usize = 6;

/// Every 32nd slice is compared band by band with that of the neighbouring view.
const BESIDE: u64 = 32;

/// Lower and upper edges of allocations in bytes.
type Places = BTreeMap<AllocationId, (f64, f64)>;

struct Scene<'a> {
    name: &'a str,
    device: &'a Device,
    timeline: Timeline,
    axis: Axis,
    lives: Vec<Life>,
}

/// Lifetime as in the table of allocations.
struct Life {
    id: AllocationId,
    born: u32,
    died: u32,
    size_bytes: u64,
    is_initial: bool,
}

struct View {
    request: PictureRequest,
    picture: Picture,
}

impl View {
    fn units_per_px(&self) -> f64 {
        (self.request.x1 - self.request.x0) / f64::from(self.request.width_px)
    }

    fn bytes_per_px(&self) -> f64 {
        (self.request.y1 - self.request.y0) / f64::from(self.request.height_px)
    }

    /// Returns the length of a slice: the largest power of two up to one pixel, and at least 1.
    fn slice_len(&self) -> f64 {
        (self.units_per_px().max(1.0).log2() + 1e-6).floor().exp2()
    }

    /// Returns the slices within the view and before `x_end`, by their numbers on the axis.
    fn slices(&self, x_end: f64) -> Range<u64> {
        let len = self.slice_len();
        let (start, end) = (self.request.x0.max(0.0), self.request.x1.min(x_end));
        (start / len).ceil() as u64..(end / len).floor() as u64
    }

    /// Converts a position on the axis to a fraction of the picture's width.
    fn share(&self, x: f64) -> f32 {
        ((x - self.request.x0) / (self.request.x1 - self.request.x0)) as f32
    }

    fn bands_over(&self, x: f64) -> impl Iterator<Item = &Band> {
        let share = self.share(x);
        self.picture.bands.iter().filter(move |band| band.x0 <= share && share < band.x1)
    }

    /// Returns the single allocations at a position on the axis, with their lower and upper edges in bytes.
    fn singles_over(&self, x: f64) -> Places {
        let mut found = Places::new();
        for band in self.bands_over(x) {
            let BandOwner::Allocation(id) = band.owner else { continue };
            let place = (self.bytes(band.y0), self.bytes(band.y1));
            if place.1 - place.0 > self.tolerance() {
                assert!(found.insert(id, place).is_none(), "{id:?} twice at {x} of {:?}", self.request);
            }
        }
        found
    }

    /// Converts an edge of a band to bytes.
    fn bytes(&self, edge: f32) -> f64 {
        self.request.y0 + f64::from(edge) * (self.request.y1 - self.request.y0)
    }

    /// Returns the rounding error of edges of bands in bytes, because edges are fractions of the view in `f32`.
    fn tolerance(&self) -> f64 {
        (self.request.y1 - self.request.y0) * 3e-7
    }

    /// Returns the part of a range of bytes that is in view.
    fn clamped(&self, (low, high): (f64, f64)) -> (f64, f64) {
        (low.clamp(self.request.y0, self.request.y1), high.clamp(self.request.y0, self.request.y1))
    }
}

#[track_caller]
fn assert_places(found: &Places, expected: &Places, tolerance: f64, context: &str) {
    assert!(found.keys().eq(expected.keys()), "{:?}, not {:?}: {context}", found.keys(), expected.keys());
    for ((id, place), expected) in found.iter().zip(expected.values()) {
        let differs = (place.0 - expected.0).abs().max((place.1 - expected.1).abs());
        assert!(differs <= tolerance, "{id:?} at {place:?}, not {expected:?}: {context}");
    }
}

const OUTLINES: [fn(&Picture) -> &[CurveStep]; 2] = [|picture| &picture.live, |picture| &picture.reserved];

/// Returns the bytes of an outline at a fraction of the view's width.
fn value_at(steps: &[CurveStep], share: f32) -> u64 {
    steps[steps.partition_point(|step| step.x <= share) - 1].bytes
}

impl<'a> Scene<'a> {
    fn new(name: &'a str, trace: &Trace, device: &'a Device, axis: Axis) -> Self {
        let timeline = Timeline::new(trace, device);
        let all = &timeline.allocations;
        let life = |id: AllocationId| {
            let row = all.get(id, device);
            Life { id, born: row.born, died: row.died, size_bytes: row.size_bytes, is_initial: all.is_initial(id) }
        };
        let lives = all.ids().map(life).collect();
        Self { name, device, timeline, axis, lives }
    }

    fn view(&self, x: (f64, f64), y: (f64, f64)) -> View {
        let (width_px, height_px) = SIZE;
        let request = PictureRequest { axis: self.axis, x0: x.0, x1: x.1, y0: y.0, y1: y.1, width_px, height_px };
        View { picture: self.timeline.picture(self.device, &request), request }
    }

    fn x_end(&self) -> f64 {
        self.timeline.x_end(self.axis)
    }

    /// Zooms in step by step about a fixed place, and moves by a pixel to either side after each step.
    fn check_from(&self, (x_share, y_share): (f64, f64), random: &mut Random) {
        let share = |random: &mut Random| random.below(1001) as f64 / 1000.0;
        let (x_end, y_end) = (self.x_end(), self.timeline.live_peak().1 as f64 + 1.0);
        let part = |end: f64, share: f64, at: f64| {
            let start = (1.0 - share).max(0.0) * end * at;
            (start, start + share * end)
        };
        let (mut x, mut y) = (part(x_end, x_share, share(random)), part(y_end, y_share, share(random)));
        let anchor = (share(random), share(random));
        let closer = |(start, end): (f64, f64), at: f64| {
            let less = (end - start) * (1.0 - CLOSER);
            (start + less * at, end - less * (1.0 - at))
        };
        let mut before = self.view(x, y);
        for step in 0..STEPS {
            self.check_columns(&before, random);
            let px = [1.0, -1.0][step % 2] * before.units_per_px();
            self.check_beside(&before, &self.view((x.0 + px, x.1 + px), y));
            x = closer(x, anchor.0);
            if step % 2 == 1 {
                y = closer(y, anchor.1);
            }
            let after = self.view(x, y);
            self.check_closer(&before, &after);
            before = after;
        }
    }

    fn check_columns(&self, view: &View, random: &mut Random) {
        let slices = view.slices(self.x_end());
        if slices.is_empty() {
            return;
        }
        for _ in 0..COLUMNS {
            let slice = slices.start + random.below((slices.end - slices.start) as usize) as u64;
            self.check_column(view, (slice as f64 + 0.5) * view.slice_len());
        }
    }

    /// Checks one column: the outline is the sum of all live bytes, and large allocations are drawn at their place.
    fn check_column(&self, view: &View, x: f64) {
        let moment = self.timeline.moment_shown_at(self.device, self.axis, x, view.units_per_px());
        let mut expected = Places::new();
        let mut below = 0;
        for life in self.lives.iter().filter(|life| life.born <= moment && moment < life.died) {
            let (low, high) = view.clamped((below as f64, (below + life.size_bytes) as f64));
            let is_large = life.size_bytes as f64 >= (BAND_PX * view.bytes_per_px()).ceil();
            if !life.is_initial && is_large && high - low > view.tolerance() {
                expected.insert(life.id, (low, high));
            }
            below += life.size_bytes;
        }
        let context = || format!("{} at moment {moment} of {:?}", self.name, view.request);
        assert_eq!(value_at(&view.picture.live, view.share(x)), below, "{}", context());
        let found = view.singles_over(x);
        assert_places(&found, &expected, view.tolerance(), &context());
        for band in view.bands_over(x) {
            if let BandOwner::Allocation(id) = band.owner {
                assert_eq!(band.color, self.timeline.color(self.device, id), "{}", context());
            }
        }
    }

    /// Checks that slices of a view moved by a pixel have the same outlines and the same bands of single allocations.
    fn check_beside(&self, here: &View, there: &View) {
        let (of_here, of_there) = (here.slices(self.x_end()), there.slices(self.x_end()));
        for slice in of_here.start.max(of_there.start)..of_here.end.min(of_there.end) {
            let x = (slice as f64 + 0.5) * here.slice_len();
            let outlines = |view: &View| OUTLINES.map(|outline| value_at(outline(&view.picture), view.share(x)));
            let context = || format!("{} at {x} of {:?} and {:?}", self.name, here.request, there.request);
            assert_eq!(outlines(here), outlines(there), "{}", context());
            if slice % BESIDE == 0 {
                assert_places(&there.singles_over(x), &here.singles_over(x), here.tolerance(), &context());
            }
        }
    }

    /// Checks that after zooming in, outlines are as high as before and single bands are still single.
    fn check_closer(&self, far: &View, near: &View) {
        let context = || format!("{} from {:?} to {:?}", self.name, far.request, near.request);
        let (len, near_len) = (far.slice_len(), near.slice_len());
        let (of_far, of_near) = (far.slices(self.x_end()), near.slices(self.x_end()));
        for slice in of_far.filter(|slice| *slice as f64 * len >= near.request.x0) {
            let (start, end) = (slice as f64 * len, (slice + 1) as f64 * len);
            if end > of_near.end as f64 * near_len {
                break;
            }
            for outline in OUTLINES {
                let parts = (0..(len / near_len) as u64).map(|part| start + (part as f64 + 0.5) * near_len);
                let highest = parts.map(|x| value_at(outline(&near.picture), near.share(x))).max();
                let before = value_at(outline(&far.picture), far.share(start + len / 2.0));
                assert_eq!(highest, Some(before), "{}", context());
            }
        }
        let near_owners: HashSet<usize> = owners(&near.picture).map(|(id, _)| id.index()).collect();
        for (id, band) in owners(&far.picture) {
            let x = |share: f32| far.request.x0 + f64::from(share) * (far.request.x1 - far.request.x0);
            let first = (x(band.x0).max(near.request.x0) / len - 1e-3).ceil();
            let has_slice = (first + 1.0) * len <= x(band.x1).min(near.request.x1) + 1e-3 * len;
            let (low, high) = near.clamped((far.bytes(band.y0), far.bytes(band.y1)));
            if has_slice && high - low > 2.0 * far.tolerance() {
                assert!(near_owners.contains(&id.index()), "{id:?} is gone: {}", context());
            }
        }
    }
}

fn owners(picture: &Picture) -> impl Iterator<Item = (AllocationId, &Band)> {
    picture.bands.iter().filter_map(|band| match band.owner {
        BandOwner::Allocation(id) => Some((id, band)),
        _ => None,
    })
}

fn check(name: &str, trace: &Trace) {
    let mut random = Random::new(1);
    for device in trace.devices.iter().chain(&trace.host) {
        for axis in [Axis::Events, Axis::Time] {
            let scene = Scene::new(name, trace, device, axis);
            if axis == Axis::Events || scene.timeline.has_times() {
                STARTS.into_iter().for_each(|start| scene.check_from(start, &mut random));
            }
        }
    }
}

#[test]
fn stored_snapshots_keep_their_places_from_view_to_view() {
    samples().iter().for_each(|sample| check(&sample.name, &sample.trace()));
}

#[test]
fn generated_snapshots_keep_their_places_from_view_to_view() {
    for (seed, events) in [(1, 20_000), (2, 3000), (3, 200), (4, 1)] {
        let bytes = generate_vec(&Config { seed, events, style: Style::Python });
        check(&format!("generated {seed}"), &decode("generated", &bytes, 1 << 20));
    }
}
