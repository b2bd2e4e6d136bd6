//! Draws the PNG icons of the installed page from the SVG icon.
//!
//! The SVG consists of rectangles with rounded corners, the first of which is the background. Each pixel is the mean of
//! 16 samples.

use anyhow::{Context, Result, bail};

use crate::files::Files;

const ICON: &str = "icon.svg";

/// Width and height of the icon, in its own units.
const UNITS: f64 = 32.0;

/// Number of samples per pixel in each direction.
const SAMPLES: u32 = 4;

/// Scale of the drawing in a maskable icon.
///
/// Such an icon may be cropped to any shape that keeps a circle of 4/5 of its width.
const MASKABLE_SCALE: f64 = 0.74;

/// Rectangle, in units of the icon.
struct Rect {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    radius: f64,
    color: [u8; 3],
}

/// Draws the PNG icons, by their file names.
pub(crate) fn draw(statics: &Files) -> Result<Files> {
    let svg = statics.get(ICON).with_context(|| format!("static/{ICON} is missing"))?;
    let rects = rects(std::str::from_utf8(svg)?).with_context(|| format!("reading static/{ICON}"))?;
    let icons =
        [("icon-192.png", 192, 1.0), ("icon-512.png", 512, 1.0), ("icon-maskable-512.png", 512, MASKABLE_SCALE)];
    icons
        .into_iter()
        .map(|(name, size, scale)| Ok((name.to_owned(), png(&pixels(&rects, size, scale), size)?)))
        .collect()
}

fn rects(svg: &str) -> Result<Vec<Rect>> {
    let rects: Vec<Rect> = svg.split("<rect").skip(1).map(rect).collect::<Result<_>>()?;
    if rects.is_empty() || svg.matches('<').count() != rects.len() + 2 {
        bail!("it has to be rectangles, and nothing else");
    }
    Ok(rects)
}

fn rect(text: &str) -> Result<Rect> {
    let attribute = |name: &str| text.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split('"').next());
    let number = |name: &str| attribute(name).map_or(Ok(0.0), |text| text.parse::<f64>().context("a number"));
    let color = attribute("fill").and_then(|fill| u32::from_str_radix(fill.strip_prefix('#')?, 16).ok());
    let [_, red, green, blue] = color.context("fill has to be #rrggbb")?.to_be_bytes();
    Ok(Rect {
        x: number("x")?,
        y: number("y")?,
        width: number("width")?,
        height: number("height")?,
        radius: number("rx")?,
        color: [red, green, blue],
    })
}

impl Rect {
    fn has(&self, x: f64, y: f64) -> bool {
        let beyond = |at: f64, start: f64, length: f64| {
            let (low, high) = (start + self.radius, start + length - self.radius);
            (low - at).max(at - high).max(0.0)
        };
        let (dx, dy) = (beyond(x, self.x, self.width), beyond(y, self.y, self.height));
        dx.hypot(dy) <= self.radius && dx <= self.radius && dy <= self.radius
    }
}

/// Returns red, green, blue and opacity of each pixel; a scale below 1 fills the rest of the square with the
/// background.
fn pixels(rects: &[Rect], size: u32, scale: f64) -> Vec<u8> {
    let place = |pixel: u32, sample: u32| {
        let share = (f64::from(pixel) + (f64::from(sample) + 0.5) / f64::from(SAMPLES)) / f64::from(size);
        ((share - 0.5) / scale + 0.5) * UNITS
    };
    let ground = (scale < 1.0).then(|| rects[0].color);
    let color_at = |x, y| rects.iter().rev().find(|rect| rect.has(x, y)).map(|rect| rect.color).or(ground);
    let mut pixels = Vec::with_capacity(size as usize * size as usize * 4);
    for (row, column) in (0..size).flat_map(|row| (0..size).map(move |column| (row, column))) {
        let (mut sums, mut drawn) = ([0_u32; 3], 0_u32);
        for (down, across) in (0..SAMPLES).flat_map(|down| (0..SAMPLES).map(move |across| (down, across))) {
            if let Some(color) = color_at(place(column, across), place(row, down)) {
                drawn += 1;
                sums.iter_mut().zip(color).for_each(|(sum, part)| *sum += u32::from(part));
            }
        }
        let mean = |sum: u32| u8::try_from(sum / drawn.max(1)).unwrap_or(u8::MAX);
        pixels.extend(sums.map(mean));
        pixels.push(u8::try_from(drawn * 255 / (SAMPLES * SAMPLES)).unwrap_or(u8::MAX));
    }
    pixels
}

fn png(pixels: &[u8], size: u32) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size, size);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder.write_header()?.write_image_data(pixels)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SVG: &str = "<svg xmlns=\"x\">\n<rect width=\"32\" height=\"32\" rx=\"8\" fill=\"#102030\"/>\n\
        <rect x=\"8\" y=\"16\" width=\"16\" height=\"8\" fill=\"#ff0000\"/>\n</svg>";

    #[track_caller]
    fn check(pixels: &[u8], size: u32, (column, row): (u32, u32), expected: [u8; 4]) {
        let at = (row * size + column) as usize * 4;
        assert_eq!(pixels[at..at + 4], expected, "{column}, {row}");
    }

    #[test]
    fn rectangles_lie_over_each_other() {
        let pixels = pixels(&rects(SVG).unwrap(), 64, 1.0);
        check(&pixels, 64, (0, 0), [0, 0, 0, 0]);
        check(&pixels, 64, (0, 32), [0x10, 0x20, 0x30, 255]);
        check(&pixels, 64, (16, 32), [255, 0, 0, 255]);
        check(&pixels, 64, (47, 47), [255, 0, 0, 255]);
        check(&pixels, 64, (48, 47), [0x10, 0x20, 0x30, 255]);
    }

    #[test]
    fn what_may_be_cut_has_no_corners_and_keeps_to_the_middle() {
        let pixels = pixels(&rects(SVG).unwrap(), 64, 0.5);
        check(&pixels, 64, (0, 0), [0x10, 0x20, 0x30, 255]);
        check(&pixels, 64, (16, 32), [0x10, 0x20, 0x30, 255]);
        check(&pixels, 64, (24, 32), [255, 0, 0, 255]);
        check(&pixels, 64, (24, 40), [0x10, 0x20, 0x30, 255]);
    }

    #[test]
    fn anything_but_rectangles_is_refused() {
        for svg in ["<svg></svg>", "<svg><path/><rect fill=\"#000000\"/></svg>", "<svg><rect fill=\"red\"/></svg>"] {
            assert!(rects(svg).is_err(), "{svg}");
        }
    }
}
