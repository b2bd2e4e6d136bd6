//! Draws bands and outlines with WebGL2.
//!
//! The bands of a picture arrive as pixels and become a texture, which each frame lays over the plot. A frame therefore
//! takes the same time for a thousand bands as for a million, also without a graphics card. Outlines and marked bands
//! are drawn anew in each frame, because they are few and stay sharp while the view moves.

use super::painter::Painter;
use super::webgl_image::{Image, Instances, piece_bytes};
use super::webgl_program::{Program, Programs};
use crate::ask::{PictureData, bands, raster};
use crate::draw::color::Color;
use crate::draw::shade;
use crate::platform::fit_canvas;
use crate::views::timeline::draw::pieces::pieces;
use crate::views::timeline::draw::plan::Layer;
use crate::views::timeline::draw::scene::{Frame, Placement};
use js_sys::{Object, Reflect};
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{HtmlCanvasElement, WebGl2RenderingContext as Gl};

/// Bands of one owner.
struct Marked {
    owner: Option<u32>,
    bands: Instances,
}

/// Picture on the graphics card.
struct Uploaded {
    picture: Rc<PictureData>,
    image: Image,
    live: Instances,
    reserved: Instances,
    hovered: Marked,
    pinned: Marked,
}

/// Painter that uses WebGL2.
pub(super) struct WebGlPainter {
    canvas: HtmlCanvasElement,
    gl: Gl,
    programs: Programs,
    layers: [Uploaded; 2],
    is_software: bool,
}

impl WebGlPainter {
    /// Creates a painter for a new canvas; `None` if there is no WebGL2.
    pub(super) fn open(canvas: HtmlCanvasElement) -> Option<Self> {
        let options = Object::new();
        for name in ["alpha", "antialias", "depth", "stencil", "preserveDrawingBuffer"] {
            Reflect::set(&options, &JsValue::from_str(name), &JsValue::FALSE).ok()?;
        }
        let gl: Gl = canvas.get_context_with_context_options("webgl2", &options).ok()??.dyn_into().ok()?;
        gl.blend_func(Gl::SRC_ALPHA, Gl::ONE_MINUS_SRC_ALPHA);
        let programs = Programs::link(&gl)?;
        let layers = [Uploaded::new(&gl)?, Uploaded::new(&gl)?];
        let is_software = has_software_renderer(&gl);
        Some(Self { canvas, gl, programs, layers, is_software })
    }

    fn paint_image(&self, frame: &Frame<'_>, placement: &Placement) {
        let (gl, program) = (&self.gl, &self.programs.image);
        program.begin(gl);
        self.layers[placement.layer.index()].image.bind(gl, program);
        place(gl, program, frame, placement);
        let share = if frame.pinned.is_some() { shade::DIM_SHARE } else { 0.0 };
        program.set(gl, "veil", &frame.theme.background.with_alpha(share).floats());
        gl.disable(Gl::BLEND);
        gl.draw_arrays(Gl::TRIANGLE_STRIP, 0, 4);
        gl.enable(Gl::BLEND);
    }

    fn paint_marks(&mut self, frame: &Frame<'_>, placement: &Placement) {
        let (gl, program) = (&self.gl, &self.programs.marks);
        let Uploaded { picture, hovered, pinned, .. } = &mut self.layers[placement.layer.index()];
        hovered.choose(gl, frame.hovered.filter(|_| frame.hovered != frame.pinned), picture);
        pinned.choose(gl, frame.pinned, picture);
        program.begin(gl);
        place(gl, program, frame, placement);
        let (theme, ratio) = (frame.theme, frame.layout.pixel_ratio as f32);
        program.set(gl, "origin", &[plot_in_canvas(frame).0[1] as f32]);
        for (marked, color, share, edge) in
            [(pinned, theme.accent, shade::PIN_SHARE, 2.0), (hovered, theme.hover, shade::HOVER_SHARE, 0.0)]
        {
            program.set(gl, "tint", &color.with_alpha(share).floats());
            program.set(gl, "edge", &[edge * ratio]);
            marked.bands.draw(gl);
        }
    }

    fn paint_outlines(&self, frame: &Frame<'_>, placement: &Placement) {
        let (gl, program, layer) = (&self.gl, &self.programs.pieces, &self.layers[placement.layer.index()]);
        program.begin(gl);
        place(gl, program, frame, placement);
        let unit = frame.layout.pixel_ratio.round().max(1.0) as f32;
        for (line, color, width) in [(&layer.reserved, frame.theme.reserved, 2.0), (&layer.live, frame.theme.live, 1.0)]
        {
            program.set(gl, "thickness", &[unit * width]);
            program.set(gl, "tint", &color.floats());
            line.draw(gl);
        }
    }
}

impl Painter for WebGlPainter {
    fn name(&self) -> &'static str {
        "webgl2"
    }

    fn is_software(&self) -> bool {
        self.is_software
    }

    fn canvas(&self) -> &HtmlCanvasElement {
        &self.canvas
    }

    fn upload(&mut self, layer: Layer, picture: &Rc<PictureData>, frame: &Frame<'_>) {
        let Some(asked) = picture.view else { return };
        let (gl, uploaded) = (&self.gl, &mut self.layers[layer.index()]);
        uploaded.picture = picture.clone();
        uploaded.live.fill(gl, &piece_bytes(&pieces(&picture.live, &asked)));
        uploaded.reserved.fill(gl, &piece_bytes(&pieces(&picture.reserved, &asked)));
        uploaded.hovered.forget(gl);
        uploaded.pinned.forget(gl);
        let palette = raster::palette(frame.theme, asked.color);
        uploaded.image.fill(gl, [asked.request.width_px, asked.request.height_px], &picture.pixels, &palette);
    }

    fn paint(&mut self, frame: &Frame<'_>) {
        let layout = frame.layout;
        fit_canvas(&self.canvas, layout.outer.width, layout.outer.height, layout.pixel_ratio);
        self.gl.disable(Gl::SCISSOR_TEST);
        clear(&self.gl, frame.theme.background);
        self.gl.enable(Gl::SCISSOR_TEST);
        let (origin, size) = plot_in_canvas(frame);
        self.gl.viewport(origin[0], origin[1], size[0], size[1]);
        for placement in &frame.placements {
            let clip = placement.clip;
            self.gl.scissor(origin[0] + clip.x, origin[1] + clip.y, clip.width, clip.height);
            self.paint_image(frame, placement);
            self.paint_marks(frame, placement);
            self.paint_outlines(frame, placement);
        }
    }
}

impl Uploaded {
    fn new(gl: &Gl) -> Option<Self> {
        let marked = || Some(Marked { owner: None, bands: Instances::of_bands(gl)? });
        Some(Self {
            picture: Rc::default(),
            image: Image::new(gl)?,
            live: Instances::of_pieces(gl)?,
            reserved: Instances::of_pieces(gl)?,
            hovered: marked()?,
            pinned: marked()?,
        })
    }
}

impl Marked {
    /// Uploads the bands of an owner unless they are uploaded already.
    fn choose(&mut self, gl: &Gl, owner: Option<u32>, picture: &PictureData) {
        if self.owner == owner {
            return;
        }
        self.owner = owner;
        let Some(owner) = owner else { return self.bands.fill(gl, &[]) };
        let is_owned = |row: &&[u8]| row[16..20] == owner.to_le_bytes();
        let rows: Vec<u8> = picture.bands.chunks_exact(bands::BAND_BYTES).filter(is_owned).flatten().copied().collect();
        self.bands.fill(gl, &rows);
    }

    fn forget(&mut self, gl: &Gl) {
        self.owner = None;
        self.bands.fill(gl, &[]);
    }
}

/// Returns true if the processor computes WebGL, which the name of the renderer reveals.
fn has_software_renderer(gl: &Gl) -> bool {
    const UNMASKED_RENDERER: u32 = 0x9246;
    let is_known = gl.get_extension("WEBGL_debug_renderer_info").is_ok_and(|extension| extension.is_some());
    let parameter = if is_known { UNMASKED_RENDERER } else { Gl::RENDERER };
    let name = gl.get_parameter(parameter).ok().and_then(|name| name.as_string()).unwrap_or_default();
    ["SwiftShader", "llvmpipe", "Software", "Basic Render"].iter().any(|known| name.contains(known))
}

/// Sets a program's uniforms for the position of a picture.
fn place(gl: &Gl, program: &Program, frame: &Frame<'_>, placement: &Placement) {
    let (_, size) = plot_in_canvas(frame);
    program.set_pixels(gl, "offset", placement.offset);
    program.set_pixels(gl, "scale", placement.scale);
    program.set_pixels(gl, "size", size.map(f64::from));
}

fn clear(gl: &Gl, color: Color) {
    let [red, green, blue, _] = color.floats();
    gl.clear_color(red, green, blue, 1.0);
    gl.clear(Gl::COLOR_BUFFER_BIT);
}

/// Returns the lower left corner and the size of the plot in the canvas, in device pixels.
fn plot_in_canvas(frame: &Frame<'_>) -> ([i32; 2], [i32; 2]) {
    let (layout, size) = (frame.layout, frame.layout.plot_size());
    let left = (layout.plot.x * layout.pixel_ratio).round() as i32;
    let low = ((layout.outer.height - layout.plot.bottom()) * layout.pixel_ratio).round() as i32;
    ([left, low], [size.device_width() as i32, size.device_height() as i32])
}
