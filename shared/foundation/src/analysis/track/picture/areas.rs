//! Draws the live bytes as a stack of a few areas, one for each group of allocations.
//!
//! Idea: each slice of the picture shows the sums of its highest moment, so that the areas add up to the outline.
//! The sums of the first slice are those of the allocations alive then; from slice to slice, births are added and deaths
//! subtracted.
//!
//! ```text
//! alloc a 2, alloc b 1, alloc c 2, free a       a and c in area 0, b in area 1
//!
//! moment          1  2  3  4
//! area 0          2  2  4  2
//! area 1          0  1  1  1
//! ```
//!
//! Cost: a few instructions per birth and death in view, and a rectangle wherever an area moves.

use super::Picture;
use super::bands::{BandOwner, Bands, Open, PictureRequest};
use super::slices::Slices;
use crate::analysis::track::allocations::Allocations;
use crate::analysis::track::timeline::Timeline;
use crate::trace::Device;

/// Maximum number of areas: ten with a name, and the rest.
pub const AREAS: usize = 11;

/// Live bytes of each area at a moment.
pub type AreaBytes = [u64; AREAS];

impl Timeline {
    /// Draws a part of the timeline as areas, of which the first is at the bottom.
    ///
    /// `areas` has the area of each allocation, and `colors` the colour number of each area.
    pub fn area_picture(
        &self,
        device: &Device,
        request: &PictureRequest,
        areas: &[u8],
        colors: &[u32; AREAS],
    ) -> Picture {
        let slices = Slices::new(self, device, request);
        Picture {
            bands: bands(&self.allocations, request, &slices, areas, colors),
            own: Vec::new(),
            live: slices.outline(&slices.live_bytes),
            reserved: slices.outline(&slices.reserved_bytes),
        }
    }

    /// Returns the live bytes of each area at a moment.
    pub fn area_bytes(&self, areas: &[u8], moment: u32) -> AreaBytes {
        let mut sums = AreaBytes::default();
        self.allocations.alive_at(moment).for_each(|(id, size_bytes)| add(&mut sums, areas, id.index(), size_bytes));
        sums
    }
}

/// Adds bytes to the area of an allocation; one without an area is in the last.
fn add(sums: &mut AreaBytes, areas: &[u8], row: usize, bytes: u64) {
    let area = areas.get(row).map_or(AREAS - 1, |&area| usize::from(area).min(AREAS - 1));
    sums[area] = sums[area].wrapping_add(bytes);
}

fn bands(
    allocations: &Allocations,
    request: &PictureRequest,
    slices: &Slices,
    areas: &[u8],
    colors: &[u32; AREAS],
) -> Vec<super::Band> {
    let mut out = Bands::new(&slices.edges, request, None);
    let mut open = [Open::NOTHING; AREAS];
    let mut sums = Sums { allocations, areas, bytes: AreaBytes::default(), moment: None };
    for (slice, &moment) in slices.shown.iter().enumerate() {
        sums.go_to(moment);
        stack(&mut out, &mut open, slice as u32, &sums.bytes, colors);
    }
    stack(&mut out, &mut open, slices.len() as u32, &AreaBytes::default(), colors);
    out.finished
}

/// Continues the rectangle of each area whose place stays, and begins another for each that moves.
fn stack(out: &mut Bands<'_>, open: &mut [Open; AREAS], slice: u32, bytes: &AreaBytes, colors: &[u32; AREAS]) {
    let mut bottom = 0_u64;
    for ((open, &bytes), &color) in open.iter_mut().zip(bytes).zip(colors) {
        let top = bottom.saturating_add(bytes);
        out.replace(open, Open::new(slice, bottom, top), BandOwner::Area, color);
        bottom = top;
    }
}

/// Live bytes of each area at a moment that only moves forward.
struct Sums<'a> {
    allocations: &'a Allocations,
    areas: &'a [u8],
    bytes: AreaBytes,
    moment: Option<u32>,
}

impl Sums<'_> {
    fn go_to(&mut self, moment: u32) {
        let Self { allocations, areas, bytes, .. } = self;
        let size_bytes = &allocations.size_bytes;
        match self.moment.replace(moment) {
            None => allocations.rows_alive_at(moment).for_each(|row| add(bytes, areas, row, size_bytes[row])),
            Some(before) => {
                let born = allocations.born_by(before) as usize..allocations.born_by(moment) as usize;
                born.for_each(|row| add(bytes, areas, row, size_bytes[row]));
                for &row in &allocations.deaths[allocations.died_by(before)..allocations.died_by(moment)] {
                    // Modulo 2^64 this is a subtraction.
                    add(bytes, areas, row as usize, size_bytes[row as usize].wrapping_neg());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::naive;
    use crate::analysis::track::timeline::Axis;
    use crate::trace::text;

    fn request(x0: f64, x1: f64, most_bytes: u64, width_px: u32) -> PictureRequest {
        PictureRequest { axis: Axis::Events, x0, x1, y0: 0.0, y1: most_bytes.max(1) as f64, width_px, height_px: 1000 }
    }

    const COLORS: [u32; AREAS] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

    /// Returns the height of an area in the middle of a slice, in bytes.
    fn height(picture: &Picture, request: &PictureRequest, x: f32, color: u32) -> f64 {
        let there = picture.bands.iter().filter(|band| band.color == color && (band.x0..band.x1).contains(&x));
        there.map(|band| f64::from(band.y1 - band.y0) * request.y1).sum()
    }

    #[test]
    fn areas_are_the_sums_of_each_moment() {
        for seed in 0..60 {
            let (trace, timeline) = naive::timed(naive::random_trace(seed, 200));
            let device = &trace.devices[0];
            let areas: Vec<u8> = (0..timeline.allocations.len()).map(|row| (row * 7 % 13) as u8).collect();
            let events = timeline.events();
            let most_bytes = timeline.live_peak().1;
            // One slice for each moment, from the middle of the trace on.
            let (x0, x1) = (f64::from(events / 3), f64::from(events + 1));
            let request = request(x0, x1, most_bytes, (events + 1 - events / 3) * 2);
            let picture = timeline.area_picture(device, &request, &areas, &COLORS);
            for moment in events / 3..=events {
                let expected = naive_bytes(&timeline, device, &areas, moment);
                assert_eq!(timeline.area_bytes(&areas, moment), expected, "seed {seed}, moment {moment}");
                let x = ((f64::from(moment) + 0.5 - x0) / (x1 - x0)) as f32;
                for (color, bytes) in COLORS.into_iter().zip(expected) {
                    let found = height(&picture, &request, x, color);
                    let tolerance = 1.0 + most_bytes as f64 * 1e-6;
                    assert!((found - bytes as f64).abs() <= tolerance, "seed {seed}, moment {moment}: {found} {bytes}");
                }
            }
        }
    }

    /// Sums the allocations one by one, by their lifetimes.
    fn naive_bytes(timeline: &Timeline, device: &Device, areas: &[u8], moment: u32) -> AreaBytes {
        let mut sums = AreaBytes::default();
        for id in timeline.allocations.ids() {
            let row = timeline.allocations.get(id, device);
            if (row.born..row.died).contains(&moment) {
                sums[usize::from(areas[id.index()]).min(AREAS - 1)] += row.size_bytes;
            }
        }
        sums
    }

    #[test]
    fn a_slice_of_many_moments_shows_the_highest_one() {
        let lines: String = (0..64).map(|number| format!("alloc n{number} 10\nfree_completed n{number}\n")).collect();
        let trace = text::parse(&format!("alloc base 100\n{lines}")).unwrap();
        let (device, timeline) = (&trace.devices[0], Timeline::new(&trace, &trace.devices[0]));
        let areas: Vec<u8> = (0..timeline.allocations.len()).map(|row| u8::from(row > 0)).collect();
        let request = request(0.0, f64::from(timeline.events() + 1), 110, 8);
        let picture = timeline.area_picture(device, &request, &areas, &COLORS);
        let heights = [1, 2].map(|color| height(&picture, &request, 0.55, color).round());
        assert_eq!(heights, [100.0, 10.0]);
        assert!(picture.bands.len() < 40, "equal slices are one rectangle: {}", picture.bands.len());
    }
}
