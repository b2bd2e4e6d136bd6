//! Tests that WebGL and the 2D canvas draw the same.

use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;

use png::ColorType;
use serde_json::json;

use crate::journey::{Journey, MIDDLE};

/// Tolerance of a channel of a pixel, because blending is rounded in two ways.
const NEAR: u8 = 8;

/// Fraction of pixels that may exceed the tolerance, at edges that are rounded to the other side.
const EDGES: f64 = 0.002;

/// Pixels of the plot, three bytes each.
#[derive(Debug)]
struct Pixels {
    width: usize,
    bytes: Vec<u8>,
}

impl Pixels {
    /// Takes a screenshot and cuts out the plot.
    #[track_caller]
    fn of_plot(page: &Journey, name: &str) -> Self {
        let file = page.screenshot(name);
        let mut reader = png::Decoder::new(BufReader::new(File::open(file).unwrap())).read_info().unwrap();
        let mut all = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut all).unwrap();
        let channels = if info.color_type == ColorType::Rgba { 4 } else { 3 };
        let place = page
            .plot()
            .value("(box => [box.left, box.top, box.width, box.height].map(Math.round))(it.getBoundingClientRect())");
        let [left, top, width, height]: [usize; 4] = serde_json::from_value(place).unwrap();
        let rows = (top..top + height).map(|y| &all[(y * info.width as usize + left) * channels..][..width * channels]);
        let bytes = rows.flat_map(|row| row.chunks(channels).flat_map(|pixel| &pixel[..3])).copied().collect();
        Self { width, bytes }
    }

    /// Returns the fraction of pixels with a channel that differs by more than [`NEAR`], and the place of the first.
    fn difference(&self, other: &Self) -> (f64, Option<(usize, usize)>) {
        assert_eq!((self.width, self.bytes.len()), (other.width, other.bytes.len()), "plots of one size");
        let differs = |(a, b): &(&[u8], &[u8])| a.iter().zip(*b).any(|(&a, &b)| a.abs_diff(b) > NEAR);
        let places: Vec<bool> = self.bytes.chunks(3).zip(other.bytes.chunks(3)).map(|pair| differs(&pair)).collect();
        let count = places.iter().filter(|&&differs| differs).count();
        let first = places.iter().position(|&differs| differs).map(|at| (at % self.width, at / self.width));
        (count as f64 / places.len() as f64, first)
    }

    /// Returns the number of colours; a plot without bands has only a few.
    fn colors(&self) -> usize {
        self.bytes.chunks(3).collect::<HashSet<_>>().len()
    }
}

/// Opens the sample with one of the renderers and waits for its findings.
#[track_caller]
fn drawn_by(renderer: &str, theme: &str) -> Journey {
    let page = Journey::start(&format!("/?sample&renderer={renderer}&theme={theme}"));
    page.wait_for_timeline();
    page.lead().wait();
    let name = page.plot().attribute("data-renderer");
    assert!(name.starts_with(renderer), "{name}");
    page
}

/// Brings both pages to a view and compares them.
#[track_caller]
fn check(pages: &[Journey; 2], what: &str, go: impl Fn(&Journey)) {
    let [webgl, canvas] = ["webgl", "canvas"].map(|renderer| {
        let page = &pages[usize::from(renderer == "canvas")];
        go(page);
        (page.view(), Pixels::of_plot(page, &format!("renderer-{what}-{renderer}")))
    });
    assert_eq!(webgl.0, canvas.0, "{what}");
    assert!(webgl.1.colors() > 20, "{what}: {} colours", webgl.1.colors());
    let (share, first) = webgl.1.difference(&canvas.1);
    assert!(share <= EDGES, "{what}: {share:.5} of the pixels differ, the first at {first:?}");
}

/// Shows a part of the events and of the bytes, as fractions of the whole.
#[track_caller]
fn show(page: &Journey, (x0, x1): (f64, f64), (y0, y1): (f64, f64)) {
    let whole = page.view();
    let (x, y) = (|share: f64| (share * whole.width()).round(), |share: f64| (share * whole.height()).round());
    let view = format!("v1;device=0;axis=events;x={}..{};y={}..{}", x(x0), x(x1), y(y0), y(y1));
    page.run("location.hash = arguments[0]", vec![json!(view)]);
    page.wait_for_view(&format!("Math.abs(x0 - {}) < 1 && Math.abs(x1 - {}) < 1", x(x0), x(x1)));
}

#[track_caller]
fn check_theme(theme: &str) {
    let pages = ["webgl", "canvas"].map(|renderer| drawn_by(renderer, theme));
    check(&pages, &format!("{theme}-whole"), |_| ());
    check(&pages, &format!("{theme}-deep"), |page| show(page, (0.41, 0.43), (0.30, 0.34)));
    // At this zoom, a band is high enough to have edges.
    check(&pages, &format!("{theme}-pinned"), |page| {
        page.plot().drag(MIDDLE, MIDDLE);
        page.pinned().find("[data-stack]").wait();
        page.role("banner", "*").hover(MIDDLE);
    });
    pages.iter().for_each(|page| page.check_console());
}

#[test]
fn both_renderers_draw_the_same_in_the_light() {
    check_theme("light");
}

#[test]
fn both_renderers_draw_the_same_in_the_dark() {
    check_theme("dark");
}
