//! Backend of plotters that records operations.

use crate::draw::op::{RING, crisp};
use crate::draw::{Align, Color, Font, Op, Point, Rect};
use plotters::drawing::DrawingAreaErrorKind;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontStyle,
};
use std::cell::Cell;
use std::convert::Infallible;
use std::rc::Rc;

/// Result of a drawing operation of plotters, which never fails here.
pub(super) type Recorded = Result<(), DrawingAreaErrorKind<Infallible>>;

type Done = Result<(), DrawingErrorKind<Infallible>>;

/// Units of plotters per CSS pixel.
///
/// Positions and widths are whole numbers in plotters, and a CSS pixel is several pixels on many screens.
const UNITS: f64 = 16.0;

/// Converts CSS pixels to units of plotters.
pub(super) fn units(pixels: f64) -> u32 {
    (pixels * UNITS).round().max(0.0) as u32
}

/// Converts units of plotters to CSS pixels.
fn pixels(units: impl Into<f64>) -> f64 {
    units.into() / UNITS
}

fn point((x, y): BackendCoord) -> Point {
    (pixels(x), pixels(y))
}

fn color_of(color: BackendColor) -> Color {
    let (red, green, blue) = color.rgb;
    Color::new(u32::from_be_bytes([0, red, green, blue])).with_alpha(color.alpha as f32)
}

/// Canvas of plotters, in units, that keeps what is drawn as operations, in CSS pixels.
pub(super) struct Recorder<'a> {
    ops: &'a mut Vec<Op>,
    size: (u32, u32),
    dashes: Rc<Cell<bool>>,
}

impl<'a> Recorder<'a> {
    /// Creates a canvas of a size in CSS pixels.
    pub(super) fn new(ops: &'a mut Vec<Op>, (width, height): (f64, f64)) -> Self {
        Self { ops, size: (units(width), units(height)), dashes: Rc::default() }
    }

    /// Returns the switch that makes lines dashed while it is on; plotters has no style for that.
    pub(super) fn dashes(&self) -> Rc<Cell<bool>> {
        self.dashes.clone()
    }

    /// Appends an operation, unless nobody would see it.
    fn push(&mut self, color: BackendColor, op: impl FnOnce(Color) -> Op) -> Done {
        if color.alpha > 0.0 {
            self.ops.push(op(color_of(color)));
        }
        Ok(())
    }
}

impl DrawingBackend for Recorder<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Done {
        let ((x, y), side) = (point(at), pixels(1));
        self.push(color, |color| Op::Fill { rect: Rect::new(x, y, side, side), radius: 0.0, color })
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Done {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S, fill: bool) -> Done {
        if !fill {
            return self.draw_path([from, (to.0, from.1), to, (from.0, to.1), from], style);
        }
        let ((left, top), (right, bottom)) = (point(from), point(to));
        let rect = Rect::new(left, top, right - left, bottom - top);
        self.push(style.color(), |color| Op::Fill { rect, radius: 0.0, color })
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Done {
        let mut points: Vec<Point> = path.into_iter().map(point).collect();
        if let [from, to] = points.as_mut_slice() {
            sharpen(from, to);
        }
        let (width, dashed) = (pixels(style.stroke_width()), self.dashes.get());
        if points.len() < 2 || width == 0.0 {
            return Ok(());
        }
        self.push(style.color(), |color| Op::Line { points, width, color, dashed })
    }

    fn draw_circle<S: BackendStyle>(&mut self, at: BackendCoord, radius: u32, style: &S, _fill: bool) -> Done {
        let (at, radius) = (point(at), (pixels(radius) - RING).max(0.0));
        self.push(style.color(), |color| Op::Dot { at, radius, color, ring: color })
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Done {
        let points: Vec<Point> = path.into_iter().map(point).collect();
        self.push(style.color(), |color| Op::Area { points, color })
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Done {
        let (font, (x, y)) = (font_of(style), point(at));
        let align = match style.anchor().h_pos {
            HPos::Left => Align::Left,
            HPos::Center => Align::Center,
            HPos::Right => Align::Right,
        };
        let y = match style.anchor().v_pos {
            VPos::Top => y + font.size / 2.0,
            VPos::Center => y,
            VPos::Bottom => y - font.size / 2.0,
        };
        self.push(style.color(), |color| Op::text((x, y), text, align, font, color))
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let font = font_of(style);
        Ok((units(font.width(text)), units(font.size)))
    }
}

fn font_of(style: &impl BackendTextStyle) -> Font {
    Font { size: pixels(style.size()), is_strong: matches!(style.style(), FontStyle::Bold) }
}

/// Moves a horizontal or vertical line to the middle of a pixel, where it is not smeared over two.
fn sharpen(from: &mut Point, to: &mut Point) {
    if from.0 == to.0 {
        (from.0, to.0) = (crisp(from.0), crisp(to.0));
    } else if from.1 == to.1 {
        (from.1, to.1) = (crisp(from.1), crisp(to.1));
    }
}
