//! Checks the sizes and colours of groups of small allocations.

use super::*;
use std::fmt::Write;

/// Returns the bands that cover a moment in a picture of `height_px`, from the bottom, as bytes and colours.
fn bands_at(trace: &Trace, moment: u32, y1: f64, height_px: u32) -> Vec<(u64, u32)> {
    let device = &trace.devices[0];
    let timeline = Timeline::new(trace, device);
    let (axis, x1) = (Axis::Events, timeline.x_end(Axis::Events));
    let request = PictureRequest { axis, x0: 0.0, x1, y0: 0.0, y1, width_px: 4096, height_px };
    let picture = timeline.picture(device, &request);
    let x = ((f64::from(moment) + 0.5) / x1) as f32;
    let mut bands: Vec<_> = picture.bands.iter().filter(|band| band.x0 <= x && x < band.x1).collect();
    bands.sort_by(|a, b| a.y0.total_cmp(&b.y0));
    bands.iter().map(|band| (((band.y1 - band.y0) as f64 * y1).round() as u64, band.color)).collect()
}

/// Returns the colours of a trace's allocations.
fn colors(trace: &Trace) -> Vec<u32> {
    let timeline = Timeline::new(trace, &trace.devices[0]);
    timeline.allocations.ids().map(|id| timeline.color(&trace.devices[0], id)).collect()
}

/// Checks the drawing in `rungs`.
#[test]
fn the_worked_example_of_the_rungs() {
    let mut source = String::new();
    for name in ["a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4", "large", "c1", "c2", "c3"] {
        let size_bytes = if name == "large" { 2 } else { 1 };
        writeln!(source, "alloc {name} {size_bytes} @{}", &name[..1]).unwrap();
    }
    for name in ["a2", "a3", "a4", "b1", "b2", "b3", "large"] {
        writeln!(source, "free_completed {name}").unwrap();
    }
    let trace = text::parse(&source).unwrap();
    let color = colors(&trace);
    let (a, b, large, c) = (color[0], color[4], color[8], color[9]);
    // One byte per pixel: allocations of 2 bytes are large.
    let at = |moment| bands_at(&trace, moment, 16.0, 16);
    assert_eq!(at(12), [(4, a), (4, b), (2, large), (3, c)]);
    assert_eq!(at(17), [(1, a), (2, b), (2, large), (3, c)]);
    assert_eq!(at(18), [(2, a), (2, large), (3, c)]);
    assert_eq!(at(19), [(2, a), (3, c)]);
}

#[test]
fn a_group_that_shrinks_may_join_both_neighbours() {
    let mut source = String::new();
    for (group, sizes) in [("a", &[1; 8][..]), ("b", &[3, 3, 2]), ("c", &[1; 8]), ("d", &[1; 8])] {
        for (index, size_bytes) in sizes.iter().enumerate() {
            writeln!(source, "alloc {group}{index} {size_bytes} @{group}").unwrap();
        }
    }
    for name in (1..8).flat_map(|index| [format!("a{index}"), format!("c{index}")]) {
        writeln!(source, "free_completed {name}").unwrap();
    }
    writeln!(source, "free_completed b0\nfree_completed b1").unwrap();
    let trace = text::parse(&source).unwrap();
    let color = colors(&trace);
    let (a, b, c, d) = (color[0], color[8], color[11], color[19]);
    // Three bytes per pixel: groups have up to 8 bytes and are joined up to 4.
    let events = trace.devices[0].events.len() as u32;
    assert_eq!(bands_at(&trace, events - 1, 48.0, 16), [(1, a), (5, b), (1, c), (8, d)]);
    assert_eq!(bands_at(&trace, events, 48.0, 16), [(4, b), (8, d)]);
}

/// Builds two layers of 300 parameters each, all of them small if 600 KiB are drawn on 100 pixels.
fn two_layers() -> Trace {
    let mut source = String::new();
    for index in 0..600 {
        let layer = if index < 300 { "lower" } else { "upper" };
        writeln!(source, "alloc p{index} 1KiB @{layer}\nalloc t 512 @temporary\nfree_completed t").unwrap();
    }
    text::parse(&source).unwrap()
}

#[test]
fn many_small_allocations_show_the_colors_of_their_stacks() {
    let trace = two_layers();
    let color = colors(&trace);
    let (lower, upper) = (color[0], color[600]);
    // Allocations are large from 7.5 KiB on, so that a group has 16 KiB; the nineteenth has 12 KiB of the lower layer.
    let mut expected = vec![(16 << 10, lower); 19];
    expected.extend([(16 << 10, upper)].repeat(18));
    expected.push((8 << 10, upper));
    let events = trace.devices[0].events.len() as u32;
    assert_eq!(bands_at(&trace, events, 600.0 * 1024.0, 100), expected);
}

#[test]
fn what_is_left_of_groups_is_joined() {
    // Each step keeps 1 of the 1001 bytes that it allocates, and a pixel is 64 bytes.
    let mut source = String::new();
    for step in 0..2000 {
        writeln!(source, "alloc kept{step} 1 @f").unwrap();
        (0..20).for_each(|index| writeln!(source, "alloc t{index} 50 @g").unwrap());
        (0..20).for_each(|index| writeln!(source, "free_completed t{index}").unwrap());
    }
    let trace = text::parse(&source).unwrap();
    let events = trace.devices[0].events.len() as u32;
    let bands = bands_at(&trace, events, 6400.0, 100);
    assert!((2000 / 128..=2 * 2000 / 128 + 1).contains(&bands.len()), "{}: {bands:?}", bands.len());
    assert_eq!(bands.iter().map(|band| band.0).sum::<u64>(), 2000);
}

#[test]
fn panning_and_zooming_along_x_regroup_nothing() {
    let (trace, timeline) = naive::timed(two_layers());
    let device = &trace.devices[0];
    let edges = |x0: f64, x1: f64| {
        let (axis, y1) = (Axis::Events, 600.0 * 1024.0);
        let request = PictureRequest { axis, x0, x1, y0: 0.0, y1, width_px: 300, height_px: 100 };
        let mut bands = timeline.picture(device, &request).bands;
        bands.retain(|band| band.x1 == 1.0);
        bands.sort_by(|a, b| a.y0.total_cmp(&b.y0));
        bands.iter().map(|band| (band.y0, band.color)).collect::<Vec<_>>()
    };
    let end = timeline.x_end(Axis::Events);
    let whole = edges(0.0, end);
    for x0 in [end - 1.0, end - 2.0, end - 100.0, end / 2.0] {
        assert_eq!(edges(x0, end), whole, "from {x0}");
    }
}
