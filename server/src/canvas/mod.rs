//! Draws pictures as PNG, with the page's colours and two weights of one font.
//!
//! Everything is drawn at twice the size and averaged over squares of four pixels, because plotters does not antialias
//! areas.

use std::sync::LazyLock;

use ab_glyph::{Font as _, FontRef};
use plotters::backend::BitMapBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea as _};
use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::style::{Color as _, FontFamily, FontStyle, IntoFont as _, RGBAColor, RGBColor, register_font};
use shared::draw::color::Color;

/// Drawn pixels per pixel of the picture, in each direction.
const SAMPLES: u32 = 2;

/// Bytes per pixel.
const CHANNELS: usize = 3;

/// Name of the font in plotters.
const FAMILY: &str = "snapscope";

const REGULAR: &[u8] = include_bytes!("font/Roboto-Regular.ttf");
const MEDIUM: &[u8] = include_bytes!("font/Roboto-Medium.ttf");

/// Style sheet with the colours of the page.
const TOKENS: &str = include_str!("../../../static/tokens.css");

/// The font; its first use registers both weights with plotters.
static FONT: LazyLock<FontRef<'static>> = LazyLock::new(|| {
    for (style, bytes) in [(FontStyle::Normal, REGULAR), (FontStyle::Bold, MEDIUM)] {
        register_font(FAMILY, style, bytes).unwrap_or_else(|_| panic!("a font"));
    }
    FontRef::try_from_slice(REGULAR).expect("a font")
});

/// Position in pixels from the left and from the top.
pub(crate) type Place = (f64, f64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Medium,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ink {
    color: RGBColor,
    alpha: f64,
}

impl Ink {
    /// Returns the colour of a token of `tokens.css`, such as `live`, for the light scheme.
    ///
    /// # Panics
    ///
    /// Panics if the token does not exist.
    pub(crate) fn token(name: &str) -> Self {
        let value = TOKENS.split_once(&format!("--{name}: light-dark(#")).map_or("", |(_, rest)| rest);
        Self::hex(value.get(..6).unwrap_or_else(|| panic!("tokens.css has no colour `{name}`")))
    }

    /// Parses a colour of six hexadecimal digits.
    pub(crate) fn hex(digits: &str) -> Self {
        let [_, red, green, blue] = u32::from_str_radix(digits, 16).expect("a colour").to_be_bytes();
        Self { color: RGBColor(red, green, blue), alpha: 1.0 }
    }

    /// Converts a colour of the timeline.
    pub(crate) fn of(color: Color) -> Self {
        let [red, green, blue] = color.channels();
        Self { color: RGBColor(red, green, blue), alpha: color.alpha.into() }
    }

    /// Blends the colour with white; `share` is its part in the result.
    pub(crate) fn thinned(self, share: f64) -> Self {
        let RGBColor(red, green, blue) = self.color;
        let thin = |value: u8| (255.0 - share * (255.0 - f64::from(value))).round() as u8;
        Self { color: RGBColor(thin(red), thin(green), thin(blue)), ..self }
    }

    fn paint(self) -> RGBAColor {
        self.color.mix(self.alpha)
    }
}

/// Size in pixels and weight of letters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Type {
    pub(crate) size: f64,
    pub(crate) weight: Weight,
}

impl Type {
    /// Returns the width of a text, in pixels.
    pub(crate) fn width(self, text: &str) -> f64 {
        LazyLock::force(&FONT);
        let (width, _) = self.font().box_size(text).unwrap_or_default();
        f64::from(width) / f64::from(SAMPLES)
    }

    fn font(self) -> plotters::style::FontDesc<'static> {
        let style = if self.weight == Weight::Medium { FontStyle::Bold } else { FontStyle::Normal };
        (FontFamily::Name(FAMILY), self.size * f64::from(SAMPLES), style).into_font()
    }
}

/// Returns true if the font has all letters of a text.
pub(crate) fn is_drawable(text: &str) -> bool {
    text.chars().all(|letter| FONT.glyph_id(letter).0 != 0)
}

pub(crate) struct Canvas<'a> {
    area: DrawingArea<BitMapBackend<'a>, Shift>,
}

impl Canvas<'_> {
    /// Draws a picture of a size in pixels and returns it as PNG.
    pub(crate) fn png((width, height): (u32, u32), draw: impl FnOnce(&Canvas<'_>)) -> Vec<u8> {
        LazyLock::force(&FONT);
        let (wide, high) = (width * SAMPLES, height * SAMPLES);
        let mut pixels = vec![u8::MAX; wide as usize * high as usize * CHANNELS];
        draw(&Canvas { area: BitMapBackend::with_buffer(&mut pixels, (wide, high)).into_drawing_area() });
        encoded(&thinned_out(&pixels, wide as usize), (width, height))
    }

    /// Fills a polygon.
    pub(crate) fn area(&self, places: &[Place], ink: Ink) {
        let places: Vec<_> = places.iter().copied().map(sample).collect();
        self.done(self.area.draw(&Polygon::new(places, ink.paint().filled())));
    }

    /// Fills a rectangle; sides that round to zero draw nothing.
    pub(crate) fn rectangle(&self, top_left: Place, bottom_right: Place, ink: Ink) {
        let ((left, top), (right, bottom)) = (sample(top_left), sample(bottom_right));
        if left < right && top < bottom {
            self.done(self.area.draw(&Rectangle::new([(left, top), (right, bottom)], ink.paint().filled())));
        }
    }

    /// Fills a disc.
    pub(crate) fn dot(&self, middle: Place, radius: f64, ink: Ink) {
        let radius = (radius * f64::from(SAMPLES)).round() as i32;
        self.done(self.area.draw(&Circle::new(sample(middle), radius, ink.paint().filled())));
    }

    /// Draws a line through these positions.
    pub(crate) fn line(&self, places: &[Place], ink: Ink, width: f64) {
        let places: Vec<_> = places.iter().copied().map(sample).collect();
        self.done(self.area.draw(&PathElement::new(
            places,
            ink.paint().stroke_width((width * f64::from(SAMPLES)).round().max(1.0) as u32),
        )));
    }

    /// Draws a text whose baseline starts at this position.
    pub(crate) fn text(&self, text: &str, (x, y): Place, letters: Type, ink: Ink) {
        // plotters expects a position half a letter's size above the baseline.
        let place = sample((x, y - letters.size / 2.0));
        self.done(self.area.draw(&Text::new(text, place, letters.font().color(&ink.paint()))));
    }

    /// Logs a failed drawing operation; drawing into memory fails only for text that cannot be laid out.
    fn done<E: std::fmt::Debug>(&self, drawn: Result<(), E>) {
        if let Err(error) = drawn {
            tracing::warn!(?error, "a part of a picture is missing");
        }
    }
}

/// Converts a position in the picture to one in the enlarged drawing.
fn sample((x, y): Place) -> (i32, i32) {
    let sample = |at: f64| (at * f64::from(SAMPLES)).round() as i32;
    (sample(x), sample(y))
}

/// Averages each square of drawn pixels into one pixel.
fn thinned_out(pixels: &[u8], width: usize) -> Vec<u8> {
    let samples = SAMPLES as usize;
    let rows: Vec<&[u8]> = pixels.chunks_exact(width * CHANNELS).collect();
    let mut out = Vec::with_capacity(pixels.len() / (samples * samples));
    for rows in rows.chunks_exact(samples) {
        for x in 0..width / samples {
            for channel in 0..CHANNELS {
                let values = rows.iter().flat_map(|row| (0..samples).map(move |dx| (row, dx)));
                let sum: usize =
                    values.map(|(row, dx)| usize::from(row[(x * samples + dx) * CHANNELS + channel])).sum();
                out.push((sum / (samples * samples)) as u8);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_of_the_page() {
        assert_eq!(Ink::token("live"), Ink::hex("1b3a7a"));
        assert_eq!(Ink::hex("000000").thinned(0.0), Ink::hex("ffffff"));
        assert_eq!(Ink::hex("000000").thinned(1.0), Ink::hex("000000"));
    }

    #[test]
    fn letters_that_are_missing_are_known() {
        assert!(is_drawable("Łódź · Ωμέγα · Привет – “7 GiB” ≈ 3 %"));
        assert!(!is_drawable("内存"));
    }

    #[test]
    fn four_pixels_become_their_mean() {
        let (black, white) = ([0; 3], [255; 3]);
        let pixels = [black, white, white, black].concat();
        assert_eq!(thinned_out(&pixels, 2), [127; 3]);
    }

    #[test]
    fn wider_texts_are_wider() {
        let letters = Type { size: 20.0, weight: Weight::Medium };
        let (narrow, wide) = (letters.width("iii"), letters.width("www"));
        assert!(0.0 < narrow && narrow < wide && wide < 80.0, "{narrow} {wide}");
    }
}
