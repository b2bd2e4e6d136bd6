//! Tests which pixels operations paint.

use super::*;
use shared::analysis::Timeline;
use shared::draw::shade::{self, ColorBy};
use shared::draw::theme::Theme;
use shared::export::{PictureOptions, TimelinePicture};
use shared::trace::text;

const BACK: Color = Color::new(0xffffff);
const INK: Color = Color::new(0x204080);

/// Decoded PNG file.
struct Painted {
    width: usize,
    pixels: Vec<u8>,
}

impl Painted {
    fn of(sketch: &Sketch) -> Self {
        let png = png(sketch);
        let mut reader = ::png::Decoder::new(std::io::Cursor::new(png)).read_info().expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut pixels).expect("a picture");
        Self { width: info.width as usize, pixels }
    }

    /// Paints operations on a white picture of 40 by 40 pixels.
    fn ops(ops: Vec<Op>) -> Self {
        Self::of(&Sketch { ops, width: 40.0, height: 40.0 })
    }

    fn at(&self, x: usize, y: usize) -> [u8; 3] {
        let start = (y * self.width + x) * 3;
        [self.pixels[start], self.pixels[start + 1], self.pixels[start + 2]]
    }

    fn has(&self, color: Color, places: &[(usize, usize)]) -> bool {
        places.iter().all(|&(x, y)| self.at(x, y) == color.channels())
    }
}

#[test]
fn a_band_has_its_colour_in_both_themes() {
    let trace = text::parse("alloc a 1MiB @relu<main").expect("a trace");
    let timeline = Timeline::new(&trace, &trace.devices[0]);
    let options = PictureOptions::default();
    let picture = TimelinePicture::new(&trace, &trace.devices[0], &timeline, &options);
    for theme in [Theme::light(), Theme::dark()] {
        let painted = Painted::of(&picture.sketch(&theme));
        assert_eq!(painted.width, 1200);
        // The first place is in the right half, where `a` is alive; the second is in the corner.
        let fills: Vec<[u8; 3]> =
            (0..36).map(|number| shade::fill(number, ColorBy::Stack, &theme).channels()).collect();
        assert!(fills.contains(&painted.at(900, 400)), "{:?}", painted.at(900, 400));
        assert_eq!(painted.at(2, 2), theme.background.channels());
    }
}

#[test]
fn areas_are_filled_to_their_edges() {
    let rect = Rect::new(10.0, 10.0, 20.0, 20.0);
    let corners = vec![(10.0, 10.0), (30.0, 10.0), (30.0, 30.0), (10.0, 30.0)];
    let square = [
        Op::Fill { rect, radius: 0.0, color: INK },
        Op::Boxes { boxes: vec![rect], color: INK },
        Op::Area { points: corners, color: INK },
    ];
    for op in square {
        let painted = Painted::ops(vec![op]);
        assert!(painted.has(INK, &[(11, 11), (28, 11), (20, 28)]) && painted.has(BACK, &[(8, 8), (32, 20)]));
    }
    let rounded = Painted::ops(vec![Op::Fill { rect, radius: 8.0, color: INK }]);
    assert!(rounded.has(INK, &[(20, 20), (20, 11), (12, 20)]) && rounded.has(BACK, &[(10, 10), (29, 29), (10, 29)]));
}

#[test]
fn a_dash_is_followed_by_a_gap() {
    let line = |dashed| Op::Line { points: vec![(0.0, 20.0), (40.0, 20.0)], width: 4.0, color: INK, dashed };
    let inked = |dashed| {
        let painted = Painted::ops(vec![line(dashed)]);
        (2..38).filter(|&x| painted.at(x, 20) == INK.channels()).count()
    };
    assert_eq!(inked(false), 36);
    assert!((9..27).contains(&inked(true)), "{}", inked(true));
}

#[test]
fn a_dot_has_a_ring() {
    let ring = Color::new(0xff0000);
    let painted = Painted::ops(vec![Op::Dot { at: (20.0, 20.0), radius: 8.0, color: INK, ring }]);
    assert!(painted.has(INK, &[(20, 20), (26, 20)]) && painted.has(BACK, &[(31, 20)]));
    // The edges of disc and ring share their pixels.
    let [red, _, blue] = painted.at(28, 20);
    assert!(red > 0x80 && blue < 0x60, "{red} {blue}");
}

#[test]
fn nothing_is_painted_outside_of_a_clip() {
    let all = |color| Op::Fill { rect: Rect::new(0.0, 0.0, 40.0, 40.0), radius: 0.0, color };
    let (outer, inner) = (Rect::new(10.0, -5.0, 20.0, 25.0), Rect::new(0.0, 10.0, 20.0, 90.0));
    let other = Color::new(0x00ff00);
    let painted = Painted::ops(vec![Op::Unclip, Op::Clip(outer), all(INK), Op::Clip(inner), all(other), Op::Unclip]);
    assert!(painted.has(INK, &[(11, 1), (28, 18), (22, 12)]), "in the outer clip only");
    assert!(painted.has(other, &[(11, 11), (18, 18)]), "in both");
    assert!(painted.has(BACK, &[(5, 15), (15, 30), (35, 5)]), "outside");
}

#[test]
fn a_text_lies_on_the_side_of_its_alignment() {
    let columns = |align| {
        let painted = Painted::ops(vec![Op::text((20.0, 20.0), "ll", align, Font::strong(16.0), INK)]);
        let is_inked = |x: &usize| (0..40).any(|y| painted.at(*x, y) != BACK.channels());
        let inked: Vec<usize> = (0..40).filter(is_inked).collect();
        (inked[0], inked[inked.len() - 1])
    };
    let [left, center, right] = [Align::Left, Align::Center, Align::Right].map(columns);
    assert!(left.0 >= 19 && right.1 <= 20 && center.0 < 20 && center.1 >= 19, "{left:?} {center:?} {right:?}");
    // A halo surrounds its text.
    let halo = Color::new(0x00ff00);
    let font = Font::strong(16.0);
    let text = |halo| Op::Text { x: 4.0, y: 20.0, text: "l".to_owned(), align: Align::Left, font, color: INK, halo };
    let green = |op| Painted::ops(vec![op]).pixels.chunks_exact(3).filter(|pixel| *pixel == halo.channels()).count();
    assert!(green(text(None)) == 0 && green(text(Some(halo))) > 10);
}

#[test]
fn letters_that_are_missing_are_known_and_wider_texts_are_wider() {
    assert!(is_drawable("Łódź · Ωμέγα · Привет – “7 GiB” ≈ 3 %") && !is_drawable("内存"));
    let (narrow, wide) = (width(Font::strong(20.0), "iii"), width(Font::strong(20.0), "www"));
    assert!(0.0 < narrow && narrow < wide && wide < 80.0, "{narrow} {wide}");
}

#[test]
fn four_samples_become_their_mean() {
    let (black, white) = ([0; 3], [255; 3]);
    let samples = [black, white, white, black].concat();
    assert_eq!(thinned_out(&samples, 2), [127; 3]);
}
