//! Renders a drawing as PNG.

use shared::draw::theme::Theme;
use shared::export::{Anchor, Drawing, Shape};

use crate::canvas::{Canvas, Ink, Type, Weight};

/// Renders a drawing in the light or the dark theme and returns the PNG file.
pub(super) fn png(drawing: &Drawing, is_dark: bool) -> Vec<u8> {
    let theme = if is_dark { Theme::dark() } else { Theme::light() };
    Canvas::png((drawing.width, drawing.height), |canvas| {
        drawing.shapes.iter().for_each(|shape| draw(canvas, shape, &theme));
    })
}

fn draw(canvas: &Canvas<'_>, shape: &Shape, theme: &Theme) {
    match shape {
        Shape::Boxes { ink, boxes } => {
            let ink = Ink::of(ink.color(theme));
            for &[left, top, width, height] in boxes {
                canvas.rectangle((left, top), (left + width, top + height), ink);
            }
        }
        Shape::Line { ink, width, places } => canvas.line(places, Ink::of(ink.color(theme)), *width),
        Shape::Dot { ink, at, radius } => {
            canvas.dot(*at, radius + 0.75, Ink::of(theme.background));
            canvas.dot(*at, radius - 0.75, Ink::of(ink.color(theme)));
        }
        Shape::Text { ink, at: (x, y), anchor, size, is_strong, words } => {
            let weight = if *is_strong { Weight::Medium } else { Weight::Regular };
            let letters = Type { size: *size, weight };
            let back = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => letters.width(words) / 2.0,
                Anchor::End => letters.width(words),
            };
            canvas.text(words, (x - back, *y), letters, Ink::of(ink.color(theme)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::analysis::Timeline;
    use shared::export::{PictureOptions, timeline_picture};
    use shared::trace::text;

    /// Decodes a PNG file into its width and its pixels, three bytes each.
    fn pixels(png: &[u8]) -> (u32, Vec<u8>) {
        let mut reader = ::png::Decoder::new(std::io::Cursor::new(png)).read_info().expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut pixels).expect("a picture");
        (info.width, pixels)
    }

    #[test]
    fn a_band_has_its_colour_in_both_themes() {
        let trace = text::parse("alloc a 1MiB @relu<main").expect("a trace");
        let timeline = Timeline::new(&trace, &trace.devices[0]);
        let drawing = timeline_picture(&trace, &trace.devices[0], &timeline, &PictureOptions::default());
        for (is_dark, theme) in [(false, Theme::light()), (true, Theme::dark())] {
            let (width, pixels) = pixels(&png(&drawing, is_dark));
            assert_eq!(width, 1200);
            // The first place is in the right half, where `a` is alive; the second is in the corner.
            let at = |x: usize, y: usize| &pixels[(y * 1200 + x) * 3..][..3];
            let fill =
                |number| shared::draw::shade::fill(number, shared::draw::shade::ColorBy::Stack, &theme).channels();
            let fills: Vec<[u8; 3]> = (0..36).map(fill).collect();
            assert!(fills.iter().any(|fill| fill == at(900, 400)), "{:?}", at(900, 400));
            assert_eq!(at(2, 2), theme.background.channels());
        }
    }
}
