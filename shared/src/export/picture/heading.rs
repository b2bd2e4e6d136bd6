//! Draws the heading of a picture of one moment: title, figures and legend.

use super::drawing::{Anchor, Drawing, Ink, Shape};
use super::frame::{fitting, width_of};

/// Distance in pixels from the edges of the picture to its content.
pub(super) const MARGIN: f64 = 18.0;

/// Height of everything above the plot, in pixels.
pub(super) const ABOVE: f64 = 82.0;

const LABEL: f64 = 12.0;
const TITLE: f64 = 15.0;

/// Draws the background, the title and the figures.
pub(super) fn heading(drawing: &mut Drawing, figures: &str) {
    let (width, height) = (f64::from(drawing.width), f64::from(drawing.height));
    drawing.shapes.push(Shape::Boxes { ink: Ink::Background, boxes: vec![[0.0, 0.0, width, height]] });
    let room = width - 2.0 * MARGIN;
    let (title, anchor) = (fitting(&drawing.title, room, TITLE), Anchor::Start);
    let (ink, at, size) = (Ink::Text, (MARGIN, 26.0), TITLE);
    drawing.shapes.push(Shape::Text { ink, at, anchor, size, is_strong: true, words: title });
    words(drawing, (MARGIN, 48.0), &fitting(figures, room, LABEL));
}

/// Draws the legend, with as many entries as fit.
pub(super) fn legend(drawing: &mut Drawing, entries: &[(&str, &[Ink])]) {
    const SWATCH: f64 = 18.0;
    const HEIGHT: f64 = 10.0;
    let (top, right) = (60.0, f64::from(drawing.width) - MARGIN);
    let mut left = MARGIN;
    for (text, inks) in entries {
        let at = left + if inks.is_empty() { 0.0 } else { SWATCH + 6.0 };
        let end = at + width_of(text, LABEL);
        if end > right {
            break;
        }
        let row = HEIGHT / inks.len() as f64;
        for (index, &ink) in inks.iter().enumerate() {
            let boxes = vec![[left, top + index as f64 * row, SWATCH, row]];
            drawing.shapes.push(Shape::Boxes { ink, boxes });
        }
        words(drawing, (at, top + 9.0), text);
        left = end + 18.0;
    }
}

fn words(drawing: &mut Drawing, at: (f64, f64), text: &str) {
    let (ink, words) = (Ink::Muted, text.to_owned());
    drawing.shapes.push(Shape::Text { ink, at, anchor: Anchor::Start, size: LABEL, is_strong: false, words });
}
