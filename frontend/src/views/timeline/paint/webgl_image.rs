//! Instance buffers, and pictures as textures.

use super::webgl_program::Program;
use crate::ask::bands;
use crate::views::timeline::draw::pieces::Piece;
use shared::draw::pixels::Palette;
use web_sys::{WebGl2RenderingContext as Gl, WebGlBuffer, WebGlTexture, WebGlVertexArrayObject};

/// Buffer of instances with the attributes that read it.
pub(super) struct Instances {
    buffer: WebGlBuffer,
    array: WebGlVertexArrayObject,
    stride: usize,
    count: i32,
}

impl Instances {
    /// Creates a buffer for bands, of which only the rectangles are read.
    pub(super) fn of_bands(gl: &Gl) -> Option<Self> {
        Self::new(gl, bands::BAND_BYTES, &[(4, 0)])
    }

    /// Creates a buffer for pieces of outlines: rectangles and strengths.
    pub(super) fn of_pieces(gl: &Gl) -> Option<Self> {
        Self::new(gl, size_of::<Piece>(), &[(4, 0), (1, 16)])
    }

    /// Creates a buffer with attributes, each a vector of floats given by its length and byte offset.
    fn new(gl: &Gl, stride: usize, attributes: &[(i32, i32)]) -> Option<Self> {
        let (buffer, array) = (gl.create_buffer()?, gl.create_vertex_array()?);
        gl.bind_vertex_array(Some(&array));
        gl.bind_buffer(Gl::ARRAY_BUFFER, Some(&buffer));
        for (location, &(len, offset)) in (0..).zip(attributes) {
            gl.vertex_attrib_pointer_with_i32(location, len, Gl::FLOAT, false, i32::try_from(stride).ok()?, offset);
            gl.enable_vertex_attrib_array(location);
            gl.vertex_attrib_divisor(location, 1);
        }
        gl.bind_vertex_array(None);
        Some(Self { buffer, array, stride, count: 0 })
    }

    /// Replaces the instances.
    pub(super) fn fill(&mut self, gl: &Gl, bytes: &[u8]) {
        gl.bind_buffer(Gl::ARRAY_BUFFER, Some(&self.buffer));
        gl.buffer_data_with_u8_array(Gl::ARRAY_BUFFER, bytes, Gl::STATIC_DRAW);
        self.count = i32::try_from(bytes.len() / self.stride).unwrap_or(i32::MAX);
    }

    /// Draws all instances with one call.
    pub(super) fn draw(&self, gl: &Gl) {
        if self.count > 0 {
            gl.bind_vertex_array(Some(&self.array));
            gl.draw_arrays_instanced(Gl::TRIANGLE_STRIP, 0, 4, self.count);
            gl.bind_vertex_array(None);
        }
    }
}

/// Packs pieces as the graphics card reads them.
pub(super) fn piece_bytes(all: &[Piece]) -> Vec<u8> {
    let numbers = |piece: &Piece| [piece.x0, piece.x1, piece.y0, piece.y1, piece.strength];
    all.iter().flat_map(numbers).flat_map(f32::to_le_bytes).collect()
}

/// Picture that is laid over the plot, stored as a texture of palette indices and the palette's texture.
///
/// A picture is therefore sent to the graphics card unchanged, one byte per pixel, and its colours are looked up there.
pub(super) struct Image {
    texture: WebGlTexture,
    palette: WebGlTexture,
}

impl Image {
    /// Creates an image without pixels.
    pub(super) fn new(gl: &Gl) -> Option<Self> {
        Some(Self { texture: new_texture(gl)?, palette: new_texture(gl)? })
    }

    /// Uploads the pixels of a picture, lowest row first, and the palette that they index.
    pub(super) fn fill(&self, gl: &Gl, size: [u32; 2], pixels: &[u8], palette: &Palette) {
        // Rows of single bytes need not be aligned to four bytes.
        gl.pixel_storei(Gl::UNPACK_ALIGNMENT, 1);
        fill_texture(gl, &self.texture, (Gl::R8, Gl::RED), size, pixels);
        fill_texture(gl, &self.palette, (Gl::RGBA8, Gl::RGBA), [palette.len() as u32, 1], palette.as_flattened());
    }

    /// Binds the textures that a program reads as `image` and `palette`.
    pub(super) fn bind(&self, gl: &Gl, program: &Program) {
        for (unit, name, texture) in [(0, "image", &self.texture), (1, "palette", &self.palette)] {
            gl.active_texture(Gl::TEXTURE0 + unit);
            gl.bind_texture(Gl::TEXTURE_2D, Some(texture));
            program.set_unit(gl, name, unit as i32);
        }
    }
}

/// Creates a texture without interpolation.
fn new_texture(gl: &Gl) -> Option<WebGlTexture> {
    let texture = gl.create_texture()?;
    gl.bind_texture(Gl::TEXTURE_2D, Some(&texture));
    for (name, value) in [
        // The picture's pixels match the screen's, and values between two palette indices have no meaning.
        (Gl::TEXTURE_MIN_FILTER, Gl::NEAREST),
        (Gl::TEXTURE_MAG_FILTER, Gl::NEAREST),
        (Gl::TEXTURE_WRAP_S, Gl::CLAMP_TO_EDGE),
        (Gl::TEXTURE_WRAP_T, Gl::CLAMP_TO_EDGE),
    ] {
        gl.tex_parameteri(Gl::TEXTURE_2D, name, value as i32);
    }
    Some(texture)
}

fn fill_texture(gl: &Gl, texture: &WebGlTexture, (kept, given): (u32, u32), [width, height]: [u32; 2], bytes: &[u8]) {
    gl.bind_texture(Gl::TEXTURE_2D, Some(texture));
    // Only a size above the graphics card's limit is refused, and the plan requests less.
    let _ = gl.tex_image_2d_with_i32_and_i32_and_i32_and_format_and_type_and_opt_u8_array(
        Gl::TEXTURE_2D,
        0,
        kept as i32,
        width as i32,
        height as i32,
        0,
        given,
        Gl::UNSIGNED_BYTE,
        Some(bytes),
    );
}
