//! Paints drawings as PNG, with two weights of one font.
//!
//! Everything is drawn at twice the size and averaged over squares of four pixels, because plotters does not antialias
//! areas.
//!
//! Invariant: it chooses no color and no place; both are in the operations.

use std::sync::LazyLock;

use ab_glyph::{Font as _, FontRef};
use plotters::backend::BitMapBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea as _};
use plotters::element::{Circle, DashedPathElement, PathElement, Polygon, Rectangle, Text};
use plotters::style::{
    Color as _, FontDesc, FontFamily, FontStyle, IntoFont as _, RGBAColor, ShapeStyle, register_font,
};
use shared::draw::color::Color;
use shared::draw::op::{Align, DASH, Font, HALO, Op, Point, RING};
use shared::draw::rect::Rect;
use shared::draw::sketch::Sketch;

/// Name of the font in plotters.
const FAMILY: &str = "snapscope";

const REGULAR: &[u8] = include_bytes!("font/Roboto-Regular.ttf");
const MEDIUM: &[u8] = include_bytes!("font/Roboto-Medium.ttf");

/// The font; its first use registers both weights with plotters.
static FONT: LazyLock<FontRef<'static>> = LazyLock::new(|| {
    for (style, bytes) in [(FontStyle::Normal, REGULAR), (FontStyle::Bold, MEDIUM)] {
        register_font(FAMILY, style, bytes).unwrap_or_else(|_| panic!("a font"));
    }
    FontRef::try_from_slice(REGULAR).expect("a font")
});

pub(crate) fn is_drawable(text: &str) -> bool {
    text.chars().all(|letter| FONT.glyph_id(letter).0 != 0)
}

/// Returns the width of a painted text in pixels, which [`Font::width`] only estimates.
pub(crate) fn width(font: Font, text: &str) -> f64 {
    LazyLock::force(&FONT);
    let (width, _) = letters(font).box_size(text).unwrap_or_default();
    f64::from(width) / f64::from(SAMPLES)
}

pub(crate) fn png(sketch: &Sketch) -> Vec<u8> {
    LazyLock::force(&FONT);
    let size = (sketch.width.ceil() as u32, sketch.height.ceil() as u32);
    let drawn = (size.0 * SAMPLES, size.1 * SAMPLES);
    let mut samples = vec![u8::MAX; drawn.0 as usize * drawn.1 as usize * CHANNELS];
    let mut clips = Clips { width: drawn.0 as usize, open: Vec::new() };
    for op in &sketch.ops {
        match op {
            Op::Clip(rect) => clips.begin(&samples, sampled(*rect)),
            Op::Unclip => clips.end(&mut samples),
            op => Brush { area: BitMapBackend::with_buffer(&mut samples, drawn).into_drawing_area() }.paint(op),
        }
    }
    while !clips.open.is_empty() {
        clips.end(&mut samples);
    }
    encoded(&thinned_out(&samples, drawn.0 as usize), size)
}

struct Brush<'a> {
    area: DrawingArea<BitMapBackend<'a>, Shift>,
}

impl Brush<'_> {
    fn paint(&self, op: &Op) {
        match op {
            Op::Fill { rect, radius, color } if *radius > 0.0 => self.polygon(&rounded(*rect, *radius), *color),
            Op::Fill { rect, color, .. } => self.rectangle(*rect, *color),
            Op::Boxes { boxes, color } => boxes.iter().for_each(|rect| self.rectangle(*rect, *color)),
            Op::Area { points, color } => self.polygon(points, *color),
            Op::Line { points, width, color, dashed } => self.line(points, *width, *color, *dashed),
            Op::Dot { at, radius, color, ring } => {
                self.disc(*at, radius + RING, *ring);
                self.disc(*at, *radius, *color);
            }
            Op::Text { x, y, text, align, font, color, halo } => {
                let back = match align {
                    Align::Left => 0.0,
                    Align::Center => width(*font, text) / 2.0,
                    Align::Right => width(*font, text),
                };
                self.text(text, (x - back, *y), *font, (*color, *halo));
            }
            Op::Hint { .. } | Op::Clip(_) | Op::Unclip => (),
        }
    }

    /// Fills a rectangle; sides that round to zero paint nothing.
    fn rectangle(&self, rect: Rect, color: Color) {
        let [top_left, bottom_right] = sampled(rect);
        if top_left.0 < bottom_right.0 && top_left.1 < bottom_right.1 {
            self.done(self.area.draw(&Rectangle::new([top_left, bottom_right], paint(color).filled())));
        }
    }

    fn polygon(&self, points: &[Point], color: Color) {
        let points: Vec<_> = points.iter().copied().map(sample).collect();
        self.done(self.area.draw(&Polygon::new(points, paint(color).filled())));
    }

    fn disc(&self, center: Point, radius: f64, color: Color) {
        self.done(self.area.draw(&Circle::new(sample(center), scaled(radius), paint(color).filled())));
    }

    fn line(&self, points: &[Point], width: f64, color: Color, dashed: bool) {
        let points: Vec<_> = points.iter().copied().map(sample).collect();
        let style = ShapeStyle::from(paint(color)).stroke_width(scaled(width).max(1) as u32);
        if dashed {
            let [dash, gap] = DASH.map(scaled);
            self.done(self.area.draw(&DashedPathElement::new(points, dash, gap, style)));
        } else {
            self.done(self.area.draw(&PathElement::new(points, style)));
        }
    }

    /// Paints a text with its left end and vertical centre at a position.
    fn text(&self, text: &str, (x, y): Point, font: Font, (color, halo): (Color, Option<Color>)) {
        // plotters expects a position half a letter's size above the baseline.
        let (x, y) = sample((x, y + font.baseline() - font.size / 2.0));
        let write = |at, color| self.done(self.area.draw(&Text::new(text, at, letters(font).color(&paint(color)))));
        if let Some(halo) = halo {
            let reach = scaled(HALO / 2.0);
            let around = [-reach, 0, reach];
            let places = around.into_iter().flat_map(|dx| around.map(|dy| (x + dx, y + dy)));
            places.for_each(|at| write(at, halo));
        }
        write((x, y), color);
    }

    /// Logs a failed operation; painting into memory fails only for text that cannot be laid out.
    fn done<E: std::fmt::Debug>(&self, drawn: Result<(), E>) {
        if let Err(error) = drawn {
            tracing::warn!(?error, "a part of a picture is missing");
        }
    }
}

fn letters(font: Font) -> FontDesc<'static> {
    let style = if font.is_strong { FontStyle::Bold } else { FontStyle::Normal };
    (FontFamily::Name(FAMILY), font.size * f64::from(SAMPLES), style).into_font()
}

fn paint(color: Color) -> RGBAColor {
    let [red, green, blue] = color.channels();
    RGBAColor(red, green, blue, color.alpha.into())
}

/// Converts a length in the picture to one in the enlarged drawing.
fn scaled(length: f64) -> i32 {
    (length * f64::from(SAMPLES)).round() as i32
}

/// Converts a position in the picture to one in the enlarged drawing.
fn sample((x, y): Point) -> (i32, i32) {
    (scaled(x), scaled(y))
}

/// Returns the top left and the bottom right corner of a rectangle in the enlarged drawing.
fn sampled(rect: Rect) -> [(i32, i32); 2] {
    [sample((rect.x, rect.y)), sample((rect.right(), rect.bottom()))]
}

/// Returns the outline of a rectangle with rounded corners.
fn rounded(rect: Rect, radius: f64) -> Vec<Point> {
    /// Points per corner, enough for the radius of a few pixels that drawings use.
    const STEPS: u32 = 6;
    let radius = radius.min(rect.width / 2.0).min(rect.height / 2.0);
    let (left, right) = (rect.x + radius, rect.right() - radius);
    let (top, bottom) = (rect.y + radius, rect.bottom() - radius);
    let centers = [(right, bottom), (left, bottom), (left, top), (right, top)];
    let corner = |(quarter, (x, y)): (usize, Point)| {
        (0..=STEPS).map(move |step| {
            let angle = (quarter as f64 + f64::from(step) / f64::from(STEPS)) * std::f64::consts::FRAC_PI_2;
            (x + radius * angle.cos(), y + radius * angle.sin())
        })
    };
    centers.into_iter().enumerate().flat_map(corner).collect()
}

/// Samples per pixel of the picture, in each direction.
const SAMPLES: u32 = 2;

/// Bytes per sample and per pixel.
const CHANNELS: usize = 3;

/// Averages each square of samples into one pixel.
fn thinned_out(samples: &[u8], width: usize) -> Vec<u8> {
    let side = SAMPLES as usize;
    let rows: Vec<&[u8]> = samples.chunks_exact(width * CHANNELS).collect();
    let mut out = Vec::with_capacity(samples.len() / (side * side));
    for rows in rows.chunks_exact(side) {
        for x in 0..width / side {
            for channel in 0..CHANNELS {
                let values = rows.iter().flat_map(|row| (0..side).map(move |dx| (row, dx)));
                let sum: usize = values.map(|(row, dx)| usize::from(row[(x * side + dx) * CHANNELS + channel])).sum();
                out.push((sum / (side * side)) as u8);
            }
        }
    }
    out
}

fn encoded(pixels: &[u8], (width, height): (u32, u32)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().expect("memory takes it");
    writer.write_image_data(pixels).expect("memory takes it");
    writer.finish().expect("memory takes it");
    bytes
}

/// Clips that have not ended, the latest one last.
struct Clips {
    /// Samples per row.
    width: usize,
    open: Vec<Clip>,
}

struct Clip {
    /// Top left and bottom right corner.
    corners: [(i32, i32); 2],
    before: Vec<u8>,
}

impl Clips {
    fn begin(&mut self, samples: &[u8], corners: [(i32, i32); 2]) {
        self.open.push(Clip { corners, before: samples.to_vec() });
    }

    fn end(&mut self, samples: &mut [u8]) {
        let Some(Clip { corners: [(left, top), (right, bottom)], mut before }) = self.open.pop() else { return };
        let end = |at: i32, most: usize| usize::try_from(at).unwrap_or(0).min(most);
        let columns = end(left, self.width) * CHANNELS..end(right, self.width) * CHANNELS;
        let row_bytes = self.width.max(1) * CHANNELS;
        let rows = samples.len() / row_bytes;
        for row in end(top, rows)..end(bottom, rows) {
            let (columns, start) = (columns.clone(), row * row_bytes);
            if columns.start < columns.end {
                let inside = start + columns.start..start + columns.end;
                before[inside.clone()].copy_from_slice(&samples[inside]);
            }
        }
        samples.copy_from_slice(&before);
    }
}

#[cfg(test)]
mod tests;
