//! Buffers of instances, and pictures in textures.

use crate::{draw::pieces::Piece, worker::PictureData};
use web_sys::{WebGl2RenderingContext as Gl, WebGlBuffer, WebGlTexture, WebGlVertexArrayObject};

/// Instances in a buffer, with the attributes that read them.
pub(super) struct Instances {
    buffer: WebGlBuffer,
    array: WebGlVertexArrayObject,
    stride: usize,
    count: i32,
}

impl Instances {
    /// A buffer for bands, of which the rectangles are read.
    pub(super) fn of_bands(gl: &Gl) -> Option<Self> {
        Self::new(gl, PictureData::BAND_BYTES, &[(4, 0)])
    }

    /// A buffer for pieces of outlines: rectangles and strengths.
    pub(super) fn of_pieces(gl: &Gl) -> Option<Self> {
        Self::new(gl, size_of::<Piece>(), &[(4, 0), (1, 16)])
    }

    /// A buffer with vectors of floats, given by their lengths and byte offsets.
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

    /// Puts instances in place of those before.
    pub(super) fn fill(&mut self, gl: &Gl, bytes: &[u8]) {
        gl.bind_buffer(Gl::ARRAY_BUFFER, Some(&self.buffer));
        gl.buffer_data_with_u8_array(Gl::ARRAY_BUFFER, bytes, Gl::STATIC_DRAW);
        self.count = i32::try_from(bytes.len() / self.stride).unwrap_or(i32::MAX);
    }

    /// Draws all of them with one call.
    pub(super) fn draw(&self, gl: &Gl) {
        if self.count > 0 {
            gl.bind_vertex_array(Some(&self.array));
            gl.draw_arrays_instanced(Gl::TRIANGLE_STRIP, 0, 4, self.count);
            gl.bind_vertex_array(None);
        }
    }
}

/// Pieces as the graphics card reads them.
pub(super) fn piece_bytes(all: &[Piece]) -> Vec<u8> {
    let numbers = |piece: &Piece| [piece.x0, piece.x1, piece.y0, piece.y1, piece.strength];
    all.iter().flat_map(numbers).flat_map(f32::to_le_bytes).collect()
}

/// A texture that a picture is laid over the plot from.
pub(super) struct Image {
    texture: WebGlTexture,
}

impl Image {
    /// An image without pixels.
    pub(super) fn new(gl: &Gl) -> Option<Self> {
        let texture = gl.create_texture()?;
        gl.bind_texture(Gl::TEXTURE_2D, Some(&texture));
        for (name, value) in [
            // The picture's pixels are the screen's; while it is stretched for a moment, sharp beats smooth.
            (Gl::TEXTURE_MIN_FILTER, Gl::NEAREST),
            (Gl::TEXTURE_MAG_FILTER, Gl::NEAREST),
            (Gl::TEXTURE_WRAP_S, Gl::CLAMP_TO_EDGE),
            (Gl::TEXTURE_WRAP_T, Gl::CLAMP_TO_EDGE),
        ] {
            gl.tex_parameteri(Gl::TEXTURE_2D, name, value as i32);
        }
        Some(Self { texture })
    }

    /// Takes pixels of four bytes, the lowest row first.
    pub(super) fn fill(&self, gl: &Gl, [width, height]: [u32; 2], pixels: &[u8]) {
        gl.bind_texture(Gl::TEXTURE_2D, Some(&self.texture));
        // Only a size beyond the graphics card's is refused; the plan asks for less.
        let _ = gl.tex_image_2d_with_i32_and_i32_and_i32_and_format_and_type_and_opt_u8_array(
            Gl::TEXTURE_2D,
            0,
            Gl::RGBA8 as i32,
            width as i32,
            height as i32,
            0,
            Gl::RGBA,
            Gl::UNSIGNED_BYTE,
            Some(pixels),
        );
    }

    /// Makes the image the one that programs read.
    pub(super) fn bind(&self, gl: &Gl) {
        gl.active_texture(Gl::TEXTURE0);
        gl.bind_texture(Gl::TEXTURE_2D, Some(&self.texture));
    }
}
