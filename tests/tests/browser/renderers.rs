//! Tests the pixels of the plot: what is drawn after a detour is what was drawn at first, in both themes.

use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;

use png::ColorType;
use serde_json::json;

use crate::journey::{Journey, MIDDLE};

/// Tolerance of a channel of a pixel, because blending is rounded.
const NEAR: u8 = 8;

/// Fraction of pixels that may exceed the tolerance.
const FEW: f64 = 0.002;

/// Pixels of the plot, three bytes each.
#[derive(Debug)]
struct Pixels {
    width: usize,
    bytes: Vec<u8>,
}

impl Pixels {
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

/// Shows a part of the events and of the bytes, as fractions of the whole.
#[track_caller]
fn show(page: &Journey, (x0, x1): (f64, f64), (y0, y1): (f64, f64)) {
    let whole = page.view();
    let (x, y) = (|share: f64| (share * whole.width()).round(), |share: f64| (share * whole.height()).round());
    let view = format!("v1;device=0;axis=events;x={}..{};y={}..{}", x(x0), x(x1), y(y0), y(y1));
    page.run("location.hash = arguments[0]", vec![json!(view)]);
    page.wait_for_view(&format!("Math.abs(x0 - {}) < 1 && Math.abs(x1 - {}) < 1", x(x0), x(x1)));
}

/// Draws the sample as a whole, then a part, then a pinned allocation, and the whole again.
#[track_caller]
fn check_theme(theme: &str) {
    let page = Journey::start(&format!("/?sample&theme={theme}"));
    page.wait_for_timeline();
    page.lead().wait();
    let plot = |what: &str| {
        let pixels = Pixels::of_plot(&page, &format!("plot-{theme}-{what}"));
        assert!(pixels.colors() > 20, "{what}: {} colours", pixels.colors());
        pixels
    };
    let whole = plot("whole");
    show(&page, (0.41, 0.43), (0.30, 0.34));
    let deep = plot("deep");
    assert!(whole.difference(&deep).0 > 0.3, "a part looks different");
    // A pinned allocation keeps its colours, and everything else is dimmed.
    page.plot().drag(MIDDLE, MIDDLE);
    page.pinned().find("[data-stack]").wait();
    page.role("banner", "*").hover(MIDDLE);
    let (share, _) = deep.difference(&plot("pinned"));
    assert!((0.1..0.999).contains(&share), "{share} of the pixels are dimmed");
    page.press("\u{e00c}");
    page.press("0");
    page.wait_for_view("x0 === 0");
    page.role("banner", "*").hover(MIDDLE);
    let (share, first) = whole.difference(&plot("again"));
    assert!(share <= FEW, "{share:.5} of the pixels differ, the first at {first:?}");
}

#[test]
fn the_plot_is_the_same_after_a_detour_in_light_and_dark() {
    check_theme("light");
    check_theme("dark");
}
