//! Painter of the timeline's bands and outlines.
//!
//! The bands of a picture arrive as an image, which each frame moves and scales, so that a frame takes the same time for
//! a thousand bands as for a million. Where the Web Worker can make no images, the page colours the pixels itself.
//! Outlines and marked bands are drawn anew in each frame,
//! because they are few and stay sharp while the view moves.
//!
//! A painter for WebGL2 was removed: either lays one image over the plot in each frame, so that it only saved looking
//! up the colours of a new picture, on machines with a GPU alone, for 523 lines.

use crate::ask::raster::{Band, bands};
use crate::ask::{OutlineStep, PictureData, View as Asked, raster};
use crate::draw::shade;
use crate::draw::{Color, Theme};
use crate::platform::{fit_canvas, opaque_context_of, sibling_of};
use crate::views::timeline::draw::pieces::{Piece, pieces};
use crate::views::timeline::draw::plan::Layer;
use crate::views::timeline::draw::scene::{Frame, Placement};
use std::ops::Range;
use std::rc::Rc;
use wasm_bindgen::Clamped;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageBitmap, ImageData};

#[derive(Default)]
struct Painted {
    image: Option<Image>,
    picture: Rc<PictureData>,
    live: Vec<Piece>,
    reserved: Vec<Piece>,
    own: Vec<Piece>,
}

impl Painted {
    fn new(image: Option<Image>, picture: &Rc<PictureData>) -> Self {
        let pieces = |curve: &[OutlineStep]| picture.view.as_ref().map_or_else(Vec::new, |asked| pieces(curve, asked));
        let (live, reserved, own) = (pieces(&picture.live), pieces(&picture.reserved), pieces(&picture.own));
        Self { image, picture: picture.clone(), live, reserved, own }
    }
}

enum Image {
    /// Made by the Web Worker.
    Ready(ImageBitmap),
    /// Coloured by the page.
    Colored(HtmlCanvasElement),
}

/// Painter that keeps two pictures and places them on the plot in every frame.
pub(super) struct Painter {
    canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
    layers: [Painted; 2],
    /// Buffer for coloured pixels, reused for the next picture.
    pixels: Vec<[u8; 4]>,
}

/// Position of the plot and of a picture in the canvas, in device pixels, with y pointing down.
#[derive(Clone, Copy)]
struct Target {
    left: f64,
    bottom: f64,
    offset: [f64; 2],
    scale: [f64; 2],
    view: [f64; 2],
}

impl Target {
    fn new(frame: &Frame<'_>, placement: &Placement) -> Self {
        let (plot, ratio) = (frame.layout.plot, frame.layout.pixel_ratio);
        let left = (plot.x * ratio).round();
        let first = left + f64::from(placement.clip.x);
        Self {
            left,
            bottom: (plot.bottom() * ratio).round(),
            offset: placement.offset,
            scale: placement.scale,
            view: [first, first + f64::from(placement.clip.width)],
        }
    }

    fn x(&self, share: f32) -> f64 {
        self.left + self.offset[0] + f64::from(share) * self.scale[0]
    }

    fn y(&self, share: f32) -> f64 {
        self.bottom - self.offset[1] - f64::from(share) * self.scale[1]
    }
}

impl Painter {
    /// Creates a painter for a canvas; `None` if the browser gives it no 2D context.
    pub(super) fn open(canvas: HtmlCanvasElement) -> Option<Self> {
        let context = opaque_context_of(&canvas)?;
        Some(Self { canvas, context, layers: Default::default(), pixels: Vec::new() })
    }

    pub(super) fn take(&mut self, layer: Layer, picture: &Rc<PictureData>, image: Option<ImageBitmap>) {
        let before = self.layers[layer.index()].image.take();
        let image = match (image, before) {
            (Some(image), before) => {
                if let Some(Image::Ready(before)) = before {
                    // Megabytes that the garbage collector would not notice.
                    before.close();
                }
                Some(Image::Ready(image))
            }
            (None, Some(Image::Colored(canvas))) => self.colored(canvas, picture),
            (None, _) => sibling_of(&self.canvas).and_then(|canvas| self.colored(canvas, picture)),
        };
        self.layers[layer.index()] = Painted::new(image, picture);
    }

    pub(super) fn color_again(&mut self) {
        for layer in &self.layers {
            if let Some(Image::Colored(canvas)) = &layer.image {
                // A canvas that the browser does not give back stays empty until the next picture.
                let _ = fill(canvas, &layer.picture, &mut self.pixels);
            }
        }
    }

    fn colored(&mut self, canvas: HtmlCanvasElement, picture: &PictureData) -> Option<Image> {
        fill(&canvas, picture, &mut self.pixels)?;
        Some(Image::Colored(canvas))
    }

    pub(super) fn paint(&mut self, frame: &Frame<'_>) {
        let outer = frame.layout.outer;
        fit_canvas(&self.canvas, outer.width, outer.height, frame.layout.pixel_ratio);
        self.context.set_fill_style_str(&frame.theme.background.css());
        self.context.fill_rect(0.0, 0.0, f64::from(self.canvas.width()), f64::from(self.canvas.height()));
        for placement in &frame.placements {
            self.paint_layer(frame, placement);
        }
    }

    fn paint_layer(&self, frame: &Frame<'_>, placement: &Placement) {
        let (context, target, clip) = (&self.context, Target::new(frame, placement), placement.clip);
        let layer = &self.layers[placement.layer.index()];
        let top = target.bottom - f64::from(clip.y + clip.height);
        context.save();
        context.begin_path();
        context.rect(target.left + f64::from(clip.x), top, f64::from(clip.width), f64::from(clip.height));
        context.clip();
        context.set_image_smoothing_enabled(false);
        let (x, y, [width, height]) = (target.x(0.0), target.y(1.0), target.scale);
        // Drawing fails only for an empty picture, which has nothing to show.
        let _ = match &layer.image {
            Some(Image::Ready(image)) => context.draw_image_with_image_bitmap_and_dw_and_dh(image, x, y, width, height),
            Some(Image::Colored(image)) => {
                context.draw_image_with_html_canvas_element_and_dw_and_dh(image, x, y, width, height)
            }
            None => Ok(()),
        };
        let asked = layer.picture.view.as_ref();
        // A selected kind has made the rest grey already.
        let has_kind = asked.is_some_and(|asked| asked.marking.kind.is_some());
        if frame.pinned.is_some() && !has_kind {
            context.set_fill_style_str(&frame.theme.background.with_alpha(shade::DIM_SHARE).css());
            context.fill_rect(target.left + f64::from(clip.x), top, f64::from(clip.width), f64::from(clip.height));
        }
        let unit = frame.layout.pixel_ratio.round().max(1.0);
        if let Some(asked) = asked.filter(|_| has_kind) {
            self.paint_area(&layer.picture.own, asked, frame.theme, &target);
            self.paint_outline(&layer.own, frame.theme.accent, 1.5 * unit, &target);
        }
        self.paint_marks(frame, layer, &target);
        self.paint_outline(&layer.reserved, frame.theme.reserved, 2.0 * unit, &target);
        self.paint_outline(&layer.live, frame.theme.live, unit, &target);
        context.restore();
    }

    fn paint_marks(&self, frame: &Frame<'_>, layer: &Painted, target: &Target) {
        let (theme, edge) = (frame.theme, 2.0 * frame.layout.pixel_ratio);
        let hovered = frame.hovered.filter(|_| frame.hovered != frame.pinned);
        for (owner, color, share, edge) in
            [(frame.pinned, theme.accent, shade::PIN_SHARE, edge), (hovered, theme.hover, shade::HOVER_SHARE, 0.0)]
        {
            let Some(owner) = owner else { continue };
            let owned = bands(&layer.picture.bands).filter(|band| band.owner == owner);
            // A pinned band is always to be seen, however small it is.
            let boxes: Vec<MarkedBox> = owned.filter_map(|band| MarkedBox::new(&band, target, edge)).collect();
            self.context.set_fill_style_str(&color.with_alpha(share).css());
            boxes.iter().for_each(|marked| marked.fill(&self.context, marked.inner.clone()));
            self.context.set_fill_style_str(&color.css());
            for marked in &boxes {
                marked.fill(&self.context, marked.rows.start..marked.inner.start);
                marked.fill(&self.context, marked.inner.end..marked.rows.end);
            }
        }
    }

    fn paint_area(&self, curve: &[OutlineStep], asked: &Asked, theme: &Theme, target: &Target) {
        let (y0, y1) = (asked.request.y0, asked.request.y1);
        self.context.set_fill_style_str(&theme.accent.with_alpha(shade::AREA_SHARE).css());
        self.context.begin_path();
        let ends = curve.iter().skip(1).map(|step| step.x).chain([1.0]);
        for (step, end) in curve.iter().zip(ends) {
            let share = ((step.bytes - y0) / (y1 - y0)).clamp(0.0, 1.0) as f32;
            // Whole pixels, so that neighbours neither overlap nor leave a seam.
            let (x, right) = (target.x(step.x).round(), target.x(end).round());
            let (top, low) = (target.y(share).round(), target.y(0.0).round());
            if right > x && low > top {
                self.context.rect(x, top, right - x, low - top);
            }
        }
        self.context.fill();
    }

    /// Draws the pieces of an outline that are in view; those of similar strength are drawn together, because each
    /// change of colour takes time.
    fn paint_outline(&self, all: &[Piece], color: Color, thickness: f64, target: &Target) {
        const LEVELS: f32 = 4.0;
        let level_of = |piece: &Piece| (piece.strength * LEVELS).round() as u32;
        let context = &self.context;
        for level in 1..=LEVELS as u32 {
            // Opaque pieces may overlap; others are one path, so that none is drawn twice over another.
            let is_opaque = level == LEVELS as u32;
            context.set_fill_style_str(&color.with_alpha(level as f32 / LEVELS).css());
            context.begin_path();
            let of_level = all.iter().filter(|piece| level_of(piece) == level);
            boxes(of_level, thickness, target, |[x, y, width, height]| {
                if is_opaque { context.fill_rect(x, y, width, height) } else { context.rect(x, y, width, height) }
            });
            context.fill();
        }
    }
}

/// Passes on the boxes of the pieces of an outline in view as left, top, width and height; pieces in one column of
/// pixels, of which there may be many, are one box.
fn boxes<'p>(pieces: impl Iterator<Item = &'p Piece>, thickness: f64, target: &Target, mut draw: impl FnMut([f64; 4])) {
    let half = thickness / 2.0;
    // Halves are rounded towards the top, as with an upward y axis, so that a line along the plot's bottom lies
    // inside it.
    let snapped = |y: f64| (y - half - 0.5).ceil();
    let mut column: Option<(f64, f64, f64)> = None;
    let draw_column = |column: Option<(f64, f64, f64)>, draw: &mut dyn FnMut([f64; 4])| {
        if let Some((x, y, low)) = column {
            draw([x, y, thickness, low - y + thickness]);
        }
    };
    for piece in pieces {
        let (x, right) = ((target.x(piece.x0) - half).round(), (target.x(piece.x1) - half).round());
        if right + thickness < target.view[0] || x > target.view[1] {
            continue;
        }
        let (y, low) = (snapped(target.y(piece.y1)), snapped(target.y(piece.y0)));
        if right - x > 1.0 {
            draw([x, y, right - x + thickness, low - y + thickness]);
            continue;
        }
        column = match column {
            Some((of, top, bottom)) if of == x => Some((x, y.min(top), low.max(bottom))),
            before => {
                draw_column(before, &mut draw);
                Some((x, y, low))
            }
        };
    }
    draw_column(column, &mut draw);
}

/// Fills a canvas with the pixels of a picture; returns `None` if the browser refuses.
///
/// The canvas of the previous picture is reused, because a new one of several megabytes each time would keep the
/// garbage collector busy.
fn fill(canvas: &HtmlCanvasElement, picture: &PictureData, colored: &mut Vec<[u8; 4]>) -> Option<()> {
    let asked = picture.view.as_ref()?;
    let (width, height) = (asked.request.width_px, asked.request.height_px);
    if (canvas.width(), canvas.height()) != (width, height) {
        canvas.set_width(width);
        canvas.set_height(height);
    }
    raster::color(&picture.pixels, asked, colored);
    let image = ImageData::new_with_u8_clamped_array_and_sh(Clamped(colored.as_flattened()), width, height).ok()?;
    opaque_context_of(canvas)?.put_image_data(&image, 0.0, 0.0).ok()
}

/// Marked band in device pixels of the canvas, rounded so that neighbours meet without a seam.
struct MarkedBox {
    x: f64,
    width: f64,
    rows: Range<f64>,
    /// Rows between the upper and the lower edge.
    inner: Range<f64>,
}

impl MarkedBox {
    /// Returns the box of a band with edges of this thickness, which is at least as high and wide as an edge; `None` if
    /// it covers no pixel.
    fn new(band: &Band, target: &Target, edge_px: f64) -> Option<Self> {
        let (x, right) =
            (target.x(band.x0).round(), target.x(band.x1).round().max(target.x(band.x0).round() + edge_px));
        let low = target.y(band.y0).round();
        let top = target.y(band.y1).round().min(low - edge_px);
        let start = (top + edge_px).min(low);
        let inner = start..(low - edge_px).max(start);
        (right > x && low > top).then_some(Self { x, width: right - x, rows: top..low, inner })
    }

    fn fill(&self, context: &CanvasRenderingContext2d, rows: Range<f64>) {
        if rows.end > rows.start {
            context.fill_rect(self.x, rows.start, self.width, rows.end - rows.start);
        }
    }
}
