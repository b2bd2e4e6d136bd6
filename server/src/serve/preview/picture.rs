//! Draws a link preview: the title, the peaks and the memory curve.

use shared::api::SnapshotDigest;
use shared::base::format::{bytes, counted};

use crate::byte_axis::ByteAxis;
use crate::canvas::{Canvas, Ink, Place, Type, Weight, is_drawable};

/// Width and height in pixels, as chats display it.
pub(crate) const SIZE: (u32, u32) = (1200, 630);

const LEFT: f64 = 64.0;
const RIGHT: f64 = SIZE.0 as f64 - LEFT;
/// Left end of the curve, to the right of the axis labels.
const PLOT_LEFT: f64 = LEFT + 112.0;
const PLOT_TOP: f64 = 322.0;
const PLOT_BOTTOM: f64 = SIZE.1 as f64 - 50.0;

/// Maximum number of points of a curve that are drawn, more than its width in pixels.
const MOST_POINTS: usize = 2000;

const NAME: Type = Type { size: 30.0, weight: Weight::Medium };
const TITLE: Type = Type { size: 54.0, weight: Weight::Medium };
const FIGURE: Type = Type { size: 46.0, weight: Weight::Medium };
const LABEL: Type = Type { size: 26.0, weight: Weight::Regular };

/// Draws the picture of a snapshot with a title, as PNG.
pub(super) fn draw(title: &str, digest: &SnapshotDigest) -> Vec<u8> {
    Canvas::png(SIZE, |canvas| {
        brand(canvas);
        // A title that cannot be drawn is still visible on the page of the link.
        let title = if is_drawable(title) { title } else { "Snapshot" };
        canvas.text(&fitting(title, RIGHT - LEFT), (LEFT, 172.0), TITLE, Ink::token("text"));
        figures(canvas, digest);
        plot(canvas, digest);
    })
}

/// Draws the icon and the name.
fn brand(canvas: &Canvas<'_>) {
    let (left, top, size) = (LEFT, 48.0, 44.0);
    // The icon of the page, in its coordinates of 32 by 32.
    for (x, y, width, height, color) in [
        (0.0, 0.0, 32.0, 32.0, "141a24"),
        (5.0, 20.5, 22.0, 6.0, "35b3a4"),
        (8.0, 13.0, 15.0, 6.0, "6c9bf5"),
        (13.0, 5.5, 7.0, 6.0, "f0b35c"),
    ] {
        let [x, y, width, height] = [x, y, width, height].map(|length: f64| length * size / 32.0);
        canvas.area(&rectangle((left + x, top + y), (left + x + width, top + y + height)), Ink::hex(color));
    }
    canvas.text("Snapscope", (left + size + 16.0, top + 33.0), NAME, Ink::token("muted"));
}

/// Draws the figures of the snapshot, side by side.
fn figures(canvas: &Canvas<'_>, digest: &SnapshotDigest) {
    let mut left = LEFT;
    for (figure, label, token) in [
        (bytes(digest.peak_live_bytes), "peak live".to_owned(), "live"),
        (bytes(digest.peak_reserved_bytes), "peak reserved".to_owned(), "reserved"),
        (counted(digest.events, "event"), counted(u64::from(digest.devices), "device"), "text"),
    ] {
        canvas.text(&figure, (left, 246.0), FIGURE, Ink::token(token));
        canvas.text(&label, (left, 284.0), LABEL, Ink::token("muted"));
        left += FIGURE.width(&figure).max(LABEL.width(&label)) + 72.0;
    }
}

/// Draws live bytes as an area and reserved bytes as a line.
fn plot(canvas: &Canvas<'_>, digest: &SnapshotDigest) {
    let most = digest.reserved_curve.iter().chain(&digest.live_curve).copied().max().unwrap_or(0);
    let axis = ByteAxis::new(most, PLOT_TOP..PLOT_BOTTOM);
    let ticks: Vec<_> = axis.ticks().collect();
    for (_, y) in &ticks {
        canvas.line(&[(PLOT_LEFT, *y), (RIGHT, *y)], Ink::token("border"), 1.0);
    }
    let (live, reserved) = (steps(&digest.live_curve, &axis), steps(&digest.reserved_curve, &axis));
    if let ([first, ..], [.., last]) = (live.as_slice(), live.as_slice()) {
        let ground = [(last.0, PLOT_BOTTOM), (first.0, PLOT_BOTTOM)];
        canvas.area(&[live.as_slice(), &ground].concat(), Ink::token("live").thinned(0.25));
        canvas.line(&live, Ink::token("live"), 3.0);
    }
    canvas.line(&reserved, Ink::token("reserved"), 3.0);
    // Labels are skipped if they would be too close together.
    for (size_bytes, y) in ticks.iter().step_by(ticks.len().div_ceil(5)) {
        let label = axis.label(*size_bytes);
        canvas.text(&label, (PLOT_LEFT - 16.0 - LABEL.width(&label), y + 9.0), LABEL, Ink::token("muted"));
    }
}

/// Converts a curve to steps of equal width, each as high as the maximum of its part.
fn steps(curve: &[u64], axis: &ByteAxis) -> Vec<Place> {
    let curve = &curve[..curve.len().min(MOST_POINTS)];
    let width = (RIGHT - PLOT_LEFT) / curve.len().max(1) as f64;
    let step = |(index, size_bytes): (usize, &u64)| {
        let (left, y) = (PLOT_LEFT + index as f64 * width, axis.at(*size_bytes));
        [(left, y), (left + width, y)]
    };
    curve.iter().enumerate().flat_map(step).collect()
}

fn rectangle((left, top): Place, (right, bottom): Place) -> [Place; 4] {
    [(left, top), (right, top), (right, bottom), (left, bottom)]
}

/// Cuts a title to the width of a line.
fn fitting(title: &str, width: f64) -> String {
    if TITLE.width(title) <= width {
        return title.to_owned();
    }
    let letters: Vec<char> = title.chars().collect();
    let cut = |length: usize| {
        let start: String = letters[..length].iter().collect();
        format!("{}…", start.trim_end_matches(|letter: char| !letter.is_alphanumeric()))
    };
    let longest = (1..letters.len()).rev().map(cut).find(|cut| TITLE.width(cut) <= width);
    longest.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_titles_are_cut() {
        assert_eq!(fitting("short", 500.0), "short");
        let cut = fitting(&"many words ".repeat(18), 500.0);
        assert!(cut.starts_with("many words ") && cut.ends_with('…') && TITLE.width(&cut) <= 500.0, "{cut}");
    }

    #[test]
    fn a_curve_fills_the_width() {
        let axis = ByteAxis::new(2048, PLOT_TOP..PLOT_BOTTOM);
        let places = steps(&[0, 2048], &axis);
        assert_eq!((places[0], places[3]), ((PLOT_LEFT, PLOT_BOTTOM), (RIGHT, PLOT_TOP)));
        assert_eq!(steps(&[], &axis), []);
    }
}
