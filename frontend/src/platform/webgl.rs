//! Bands and outlines on WebGL2: a picture is uploaded once and drawn with one call, wherever the camera is.

use super::{
    painter::{Painter, fit_canvas},
    webgl_program::{Program, band_program, piece_program},
};
use crate::{
    draw::{
        bands::{Piece, pieces},
        color::Color,
        plan::Layer,
        scene::{Frame, Placement},
        shade,
        theme::{HUES, Theme},
    },
    worker::PictureData,
};
use js_sys::{Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{HtmlCanvasElement, WebGl2RenderingContext as Gl, WebGlBuffer, WebGlVertexArrayObject};

/// Instances in a buffer, with the attributes that read them.
struct Instances {
    buffer: WebGlBuffer,
    array: WebGlVertexArrayObject,
    count: i32,
}

/// A picture on the graphics card.
struct Uploaded {
    bands: Instances,
    live: Instances,
    reserved: Instances,
}

/// Draws with WebGL2.
pub(super) struct WebGlPainter {
    canvas: HtmlCanvasElement,
    gl: Gl,
    bands: Program,
    pieces: Program,
    layers: [Uploaded; 2],
}

impl WebGlPainter {
    /// A painter for a fresh canvas, `None` where there is no WebGL2.
    pub(super) fn open(canvas: HtmlCanvasElement) -> Option<Self> {
        let options = Object::new();
        for name in ["alpha", "antialias", "depth", "stencil", "preserveDrawingBuffer"] {
            Reflect::set(&options, &JsValue::from_str(name), &JsValue::FALSE).ok()?;
        }
        let gl: Gl = canvas.get_context_with_context_options("webgl2", &options).ok()??.dyn_into().ok()?;
        let (bands, pieces) = (band_program(&gl)?, piece_program(&gl)?);
        let layers = [Uploaded::empty(&gl)?, Uploaded::empty(&gl)?];
        Some(Self { canvas, gl, bands, pieces, layers })
    }

    fn paint_bands(&self, frame: &Frame<'_>, placement: &Placement) {
        let (gl, program) = (&self.gl, &self.bands);
        program.place(gl, frame, placement);
        program.set_floats(gl, "stripes", &frame.stripes.map(|shift| shift as f32));
        program.set_floats(gl, "pixel_ratio", &[frame.layout.pixel_ratio as f32]);
        set_colors(gl, program, frame.theme);
        program.set_owners(gl, [frame.hovered, frame.pinned]);
        self.layers[placement.layer.index()].bands.draw(gl);
    }

    fn paint_outlines(&self, frame: &Frame<'_>, placement: &Placement) {
        let (gl, program, layer) = (&self.gl, &self.pieces, &self.layers[placement.layer.index()]);
        program.place(gl, frame, placement);
        let thickness = frame.layout.pixel_ratio.round().max(1.0) as f32;
        for (line, color, factor) in
            [(&layer.reserved, frame.theme.reserved, 2.0), (&layer.live, frame.theme.live, 1.0)]
        {
            program.set_floats(gl, "thickness", &[(thickness * factor).floor()]);
            program.set_floats(gl, "tint", &color.floats());
            line.draw(gl);
        }
    }
}

impl Painter for WebGlPainter {
    fn name(&self) -> &'static str {
        "webgl2"
    }

    fn canvas(&self) -> &HtmlCanvasElement {
        &self.canvas
    }

    fn upload(&mut self, layer: Layer, picture: &PictureData, _frame: &Frame<'_>) {
        let uploaded = &mut self.layers[layer.index()];
        uploaded.bands.fill(&self.gl, &picture.bands, PictureData::BAND_BYTES);
        if let Some(asked) = &picture.view {
            uploaded.live.fill(&self.gl, &piece_bytes(&pieces(&picture.live, asked)), size_of::<Piece>());
            uploaded.reserved.fill(&self.gl, &piece_bytes(&pieces(&picture.reserved, asked)), size_of::<Piece>());
        }
    }

    fn paint(&mut self, frame: &Frame<'_>) {
        let (gl, layout) = (&self.gl, frame.layout);
        fit_canvas(&self.canvas, layout.outer.width, layout.outer.height, layout.pixel_ratio);
        let [red, green, blue, _] = frame.theme.background.floats();
        gl.clear_color(red, green, blue, 1.0);
        gl.disable(Gl::SCISSOR_TEST);
        gl.clear(Gl::COLOR_BUFFER_BIT);
        gl.enable(Gl::SCISSOR_TEST);
        let (origin, size) = plot_in_canvas(frame);
        gl.viewport(origin[0], origin[1], size[0], size[1]);
        for placement in &frame.placements {
            let clip = placement.clip;
            gl.scissor(origin[0] + clip.x, origin[1] + clip.y, clip.width, clip.height);
            if placement.layer == Layer::Detail && frame.placements.len() > 1 {
                gl.clear(Gl::COLOR_BUFFER_BIT);
            }
            self.paint_bands(frame, placement);
            self.paint_outlines(frame, placement);
        }
    }
}

impl Instances {
    fn empty(gl: &Gl, describe: impl Fn(&Gl)) -> Option<Self> {
        let (buffer, array) = (gl.create_buffer()?, gl.create_vertex_array()?);
        gl.bind_vertex_array(Some(&array));
        gl.bind_buffer(Gl::ARRAY_BUFFER, Some(&buffer));
        describe(gl);
        gl.bind_vertex_array(None);
        Some(Self { buffer, array, count: 0 })
    }

    fn fill(&mut self, gl: &Gl, bytes: &[u8], stride: usize) {
        gl.bind_buffer(Gl::ARRAY_BUFFER, Some(&self.buffer));
        gl.buffer_data_with_u8_array(Gl::ARRAY_BUFFER, bytes, Gl::STATIC_DRAW);
        self.count = i32::try_from(bytes.len() / stride).unwrap_or(i32::MAX);
    }

    fn draw(&self, gl: &Gl) {
        gl.bind_vertex_array(Some(&self.array));
        gl.draw_arrays_instanced(Gl::TRIANGLE_STRIP, 0, 4, self.count);
        gl.bind_vertex_array(None);
    }
}

impl Uploaded {
    fn empty(gl: &Gl) -> Option<Self> {
        Some(Self {
            bands: Instances::empty(gl, describe_bands)?,
            live: Instances::empty(gl, describe_pieces)?,
            reserved: Instances::empty(gl, describe_pieces)?,
        })
    }
}

fn describe_bands(gl: &Gl) {
    let stride = PictureData::BAND_BYTES as i32;
    gl.enable_vertex_attrib_array(0);
    gl.vertex_attrib_pointer_with_i32(0, 4, Gl::FLOAT, false, stride, 0);
    gl.vertex_attrib_divisor(0, 1);
    gl.enable_vertex_attrib_array(1);
    gl.vertex_attrib_i_pointer_with_i32(1, 2, Gl::UNSIGNED_INT, stride, 16);
    gl.vertex_attrib_divisor(1, 1);
}

fn describe_pieces(gl: &Gl) {
    gl.enable_vertex_attrib_array(0);
    gl.vertex_attrib_pointer_with_i32(0, 4, Gl::FLOAT, false, size_of::<Piece>() as i32, 0);
    gl.vertex_attrib_divisor(0, 1);
}

fn piece_bytes(all: &[Piece]) -> Vec<u8> {
    all.iter().flat_map(|piece| [piece.x0, piece.x1, piece.y0, piece.y1]).flat_map(f32::to_le_bytes).collect()
}

fn set_colors(gl: &Gl, program: &Program, theme: &Theme) {
    let rgb = |color: Color| [color.floats()[0], color.floats()[1], color.floats()[2]];
    let fills: Vec<f32> = (0..HUES as u32 * shade::SHADES).flat_map(|number| rgb(shade::fill(number, theme))).collect();
    program.set_triples(gl, "fills", &fills);
    for (name, color) in [
        ("initial", theme.initial),
        ("initial_hatch", theme.initial_hatch),
        ("merged", theme.merged),
        ("merged_lines", theme.merged_lines),
        ("hover", theme.hover),
        ("accent", theme.accent),
        ("background", theme.background),
    ] {
        program.set_triples(gl, name, &rgb(color));
    }
    program.set_floats(gl, "separator", &theme.separator.floats());
}

/// The plot's lower left corner and size in the canvas, in device pixels.
pub(super) fn plot_in_canvas(frame: &Frame<'_>) -> ([i32; 2], [i32; 2]) {
    let (layout, size) = (frame.layout, frame.layout.plot_size());
    let left = (layout.plot.x * layout.pixel_ratio).round() as i32;
    let low = ((layout.outer.height - layout.plot.bottom()) * layout.pixel_ratio).round() as i32;
    ([left, low], [size.device_width() as i32, size.device_height() as i32])
}
