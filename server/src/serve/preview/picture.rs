//! Draws a link preview: the title, the peaks and the memory curve.

use shared::api::SnapshotDigest;
use shared::base::format::{bytes, counted};
use shared::draw::chart::{Axis, Chart, Curve, Room, columns};
use shared::draw::color::Color;
use shared::draw::op::{Align, Font, Op, Point};
use shared::draw::rect::Rect;
use shared::draw::sketch::Sketch;
use shared::draw::theme::Theme;

use crate::canvas::{is_drawable, png, width};

/// Width and height in pixels, as chats display it.
pub(crate) const SIZE: (u32, u32) = (1200, 630);

const WIDTH: f64 = SIZE.0 as f64;
const HEIGHT: f64 = SIZE.1 as f64;
/// Distance from the left and the right edge.
const MARGIN: f64 = 64.0;
/// Room around the curve; the labels of its axis are on the left.
const ROOM: Room = Room { left: MARGIN + 112.0, top: 322.0, right: MARGIN, bottom: 50.0 };

/// Maximum number of parts of a curve that are drawn, more than its width in pixels.
const MOST_PARTS: usize = 2000;

const NAME: Font = Font::strong(30.0);
const TITLE: Font = Font::strong(54.0);
const FIGURE: Font = Font::strong(46.0);
const LABEL: Font = Font::plain(26.0);

/// Draws the picture of a snapshot with a title, as PNG.
pub(super) fn draw(title: &str, digest: &SnapshotDigest) -> Vec<u8> {
    png(&sketch(title, digest, &Theme::light()))
}

fn sketch(title: &str, digest: &SnapshotDigest, theme: &Theme) -> Sketch {
    let mut sketch = Sketch::blank(WIDTH, HEIGHT, theme);
    let ops = &mut sketch.ops;
    brand(ops, theme);
    // A title that cannot be drawn is still visible on the page of the link.
    let title = if is_drawable(title) { title } else { "Snapshot" };
    ops.push(text((MARGIN, 172.0), fitting(title, WIDTH - 2.0 * MARGIN), TITLE, theme.text));
    figures(ops, digest, theme);
    ops.extend(chart(digest, theme).plotted((WIDTH, HEIGHT), theme).ops);
    sketch
}

/// Draws the icon and the name.
fn brand(ops: &mut Vec<Op>, theme: &Theme) {
    let (left, top, size) = (MARGIN, 48.0, 44.0);
    // The icon of the page, in its coordinates of 32 by 32.
    for (x, y, width, height, rgb) in [
        (0.0, 0.0, 32.0, 32.0, 0x141a24),
        (5.0, 20.5, 22.0, 6.0, 0x35b3a4),
        (8.0, 13.0, 15.0, 6.0, 0x6c9bf5),
        (13.0, 5.5, 7.0, 6.0, 0xf0b35c),
    ] {
        let [x, y, width, height] = [x, y, width, height].map(|length: f64| length * size / 32.0);
        let rect = Rect::new(left + x, top + y, width, height);
        ops.push(Op::Fill { rect, radius: 0.0, color: Color::new(rgb) });
    }
    ops.push(text((left + size + 16.0, top + 33.0), "Snapscope".to_owned(), NAME, theme.text_muted));
}

/// Draws the figures of the snapshot, side by side.
fn figures(ops: &mut Vec<Op>, digest: &SnapshotDigest, theme: &Theme) {
    let mut left = MARGIN;
    for (figure, label, color) in [
        (bytes(digest.peak_live_bytes), "peak live".to_owned(), theme.live),
        (bytes(digest.peak_reserved_bytes), "peak reserved".to_owned(), theme.reserved),
        (counted(digest.events, "event"), counted(u64::from(digest.devices), "device"), theme.text),
    ] {
        let end = left + width(FIGURE, &figure).max(width(LABEL, &label));
        ops.push(text((left, 246.0), figure, FIGURE, color));
        ops.push(text((left, 284.0), label, LABEL, theme.text_muted));
        left = end + 72.0;
    }
}

/// Returns live bytes as an area and reserved bytes as a line.
fn chart(digest: &SnapshotDigest, theme: &Theme) -> Chart {
    let points = |curve: &[u64]| columns(curve.iter().take(MOST_PARTS).copied());
    let curves = vec![
        Curve::area(points(&digest.live_curve), theme.live, 3.0, 0.25),
        Curve::line(points(&digest.reserved_curve), theme.reserved, 3.0),
    ];
    let most_bytes = digest.reserved_curve.iter().chain(&digest.live_curve).copied().max().unwrap_or(0);
    Chart { x: Axis::bare(), y: Axis::bytes(most_bytes), room: ROOM, font: LABEL, curves }
}

/// Draws a text whose baseline starts at a position.
fn text((x, baseline): Point, text: String, font: Font, color: Color) -> Op {
    Op::text((x, baseline - font.baseline()), text, Align::Left, font, color)
}

/// Cuts a title to the width of a line, as it is painted.
fn fitting(title: &str, room: f64) -> String {
    if width(TITLE, title) <= room {
        return title.to_owned();
    }
    let letters: Vec<char> = title.chars().collect();
    let cut = |length: usize| {
        let start: String = letters[..length].iter().collect();
        format!("{}…", start.trim_end_matches(|letter: char| !letter.is_alphanumeric()))
    };
    let longest = (1..letters.len()).rev().map(cut).find(|cut| width(TITLE, cut) <= room);
    longest.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_titles_are_cut() {
        assert_eq!(fitting("short", 500.0), "short");
        let cut = fitting(&"many words ".repeat(18), 500.0);
        assert!(cut.starts_with("many words ") && cut.ends_with('…') && width(TITLE, &cut) <= 500.0, "{cut}");
    }

    #[test]
    fn a_curve_fills_the_width() {
        let digest = |live_curve| SnapshotDigest { live_curve, ..SnapshotDigest::default() };
        let theme = Theme::light();
        let drawn = |curve| chart(&digest(curve), &theme).plotted((WIDTH, HEIGHT), &theme);
        let curve = |ops: &[Op]| {
            let found = ops.iter().find_map(|op| match op {
                Op::Line { points, color, .. } if *color == theme.live => Some(points.clone()),
                _ => None,
            });
            found.map(|points| (points[0], points[points.len() - 1]))
        };
        let plotted = drawn(vec![0, 2048]);
        let (start, end) = curve(&plotted.ops).expect("a curve");
        let is_at = |place: Point, (x, y): Point| (place.0 - x).abs() < 0.1 && (place.1 - y).abs() < 0.1;
        assert!(is_at(start, (ROOM.left, HEIGHT - ROOM.bottom)), "{start:?}");
        assert!(is_at(end, (WIDTH - ROOM.right, plotted.at((1.0, 2048.0)).1)), "{end:?}");
        assert_eq!(curve(&drawn(Vec::new()).ops), None);
    }
}
