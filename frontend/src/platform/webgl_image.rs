//! Buffers of instances, and pictures that were drawn into a texture.

use crate::{draw::pieces::Piece, worker::PictureData};
use web_sys::{WebGl2RenderingContext as Gl, WebGlBuffer, WebGlFramebuffer, WebGlTexture, WebGlVertexArrayObject};

/// Instances in a buffer, with the attributes that read them.
pub(super) struct Instances {
    buffer: WebGlBuffer,
    array: WebGlVertexArrayObject,
    stride: usize,
    count: i32,
}

impl Instances {
    /// A buffer for bands.
    pub(super) fn of_bands(gl: &Gl) -> Option<Self> {
        Self::new(gl, PictureData::BAND_BYTES, |gl, stride| {
            gl.vertex_attrib_pointer_with_i32(0, 4, Gl::FLOAT, false, stride, 0);
            gl.vertex_attrib_i_pointer_with_i32(1, 2, Gl::UNSIGNED_INT, stride, 16);
        })
    }

    /// A buffer for pieces of outlines.
    pub(super) fn of_pieces(gl: &Gl) -> Option<Self> {
        Self::new(gl, size_of::<Piece>(), |gl, stride| {
            gl.vertex_attrib_pointer_with_i32(0, 4, Gl::FLOAT, false, stride, 0);
            gl.vertex_attrib_pointer_with_i32(1, 1, Gl::FLOAT, false, stride, 16);
        })
    }

    fn new(gl: &Gl, stride: usize, point: impl Fn(&Gl, i32)) -> Option<Self> {
        let (buffer, array) = (gl.create_buffer()?, gl.create_vertex_array()?);
        gl.bind_vertex_array(Some(&array));
        gl.bind_buffer(Gl::ARRAY_BUFFER, Some(&buffer));
        point(gl, i32::try_from(stride).ok()?);
        for attribute in 0..2 {
            gl.enable_vertex_attrib_array(attribute);
            gl.vertex_attrib_divisor(attribute, 1);
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

/// A texture that can be drawn into and from.
pub(super) struct Image {
    texture: WebGlTexture,
    target: WebGlFramebuffer,
}

impl Image {
    /// An image without pixels.
    pub(super) fn new(gl: &Gl) -> Option<Self> {
        let (texture, target) = (gl.create_texture()?, gl.create_framebuffer()?);
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
        Some(Self { texture, target })
    }

    /// Gives the image so many pixels, fewer where the graphics card can't, and lets `draw` fill them.
    pub(super) fn render(&self, gl: &Gl, [width, height]: [u32; 2], draw: impl FnOnce(&Gl, [f64; 2])) {
        let largest = gl.get_parameter(Gl::MAX_TEXTURE_SIZE).ok().and_then(|size| size.as_f64()).unwrap_or(2048.0);
        let pixels = |length: u32| f64::from(length).clamp(1.0, largest);
        let (width, height) = (pixels(width), pixels(height));
        gl.bind_texture(Gl::TEXTURE_2D, Some(&self.texture));
        // An image without content has no size that could be wrong.
        let _ = gl.tex_image_2d_with_i32_and_i32_and_i32_and_format_and_type_and_opt_u8_array(
            Gl::TEXTURE_2D,
            0,
            Gl::RGBA8 as i32,
            width as i32,
            height as i32,
            0,
            Gl::RGBA,
            Gl::UNSIGNED_BYTE,
            None,
        );
        gl.bind_framebuffer(Gl::FRAMEBUFFER, Some(&self.target));
        gl.framebuffer_texture_2d(Gl::FRAMEBUFFER, Gl::COLOR_ATTACHMENT0, Gl::TEXTURE_2D, Some(&self.texture), 0);
        gl.viewport(0, 0, width as i32, height as i32);
        draw(gl, [width, height]);
        gl.bind_framebuffer(Gl::FRAMEBUFFER, None);
    }

    /// Makes the image the one that programs read.
    pub(super) fn bind(&self, gl: &Gl) {
        gl.active_texture(Gl::TEXTURE0);
        gl.bind_texture(Gl::TEXTURE_2D, Some(&self.texture));
    }
}
