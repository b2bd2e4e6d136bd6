//! Linked WebGL programs with their uniforms by name.

use super::webgl_shaders::{BAND_VERTEX, IMAGE_FRAGMENT, IMAGE_VERTEX, MARK_FRAGMENT, PIECE_FRAGMENT, PIECE_VERTEX};
use std::collections::HashMap;
use web_sys::{WebGl2RenderingContext as Gl, WebGlProgram, WebGlShader, WebGlUniformLocation};

/// Linked program on the graphics card.
pub(super) struct Program {
    program: WebGlProgram,
    uniforms: HashMap<String, WebGlUniformLocation>,
}

/// Programs of the painter.
pub(super) struct Programs {
    /// Lays a picture over the plot.
    pub(super) image: Program,
    /// Tints the bands of one owner.
    pub(super) marks: Program,
    /// Draws outlines.
    pub(super) pieces: Program,
}

impl Programs {
    /// Compiles and links all programs; `None` if the graphics card refuses one.
    pub(super) fn link(gl: &Gl) -> Option<Self> {
        Some(Self {
            image: Program::link(gl, IMAGE_VERTEX, IMAGE_FRAGMENT)?,
            marks: Program::link(gl, BAND_VERTEX, MARK_FRAGMENT)?,
            pieces: Program::link(gl, PIECE_VERTEX, PIECE_FRAGMENT)?,
        })
    }
}

impl Program {
    fn link(gl: &Gl, vertex: &str, fragment: &str) -> Option<Self> {
        let program = gl.create_program()?;
        for (kind, source) in [(Gl::VERTEX_SHADER, vertex), (Gl::FRAGMENT_SHADER, fragment)] {
            gl.attach_shader(&program, &compile(gl, kind, source)?);
        }
        gl.link_program(&program);
        let is_linked = gl.get_program_parameter(&program, Gl::LINK_STATUS).is_truthy();
        is_linked.then(|| Self { uniforms: uniforms(gl, &program), program })
    }

    /// Makes this the current program.
    pub(super) fn begin(&self, gl: &Gl) {
        gl.use_program(Some(&self.program));
    }

    /// Sets a number or a vector; a name that the program does not use is ignored.
    pub(super) fn set(&self, gl: &Gl, name: &str, values: &[f32]) {
        let at = self.uniforms.get(name);
        match values.len() {
            1 => gl.uniform1fv_with_f32_array(at, values),
            2 => gl.uniform2fv_with_f32_array(at, values),
            _ => gl.uniform4fv_with_f32_array(at, values),
        }
    }

    /// Sets the texture unit that a sampler reads.
    pub(super) fn set_unit(&self, gl: &Gl, name: &str, unit: i32) {
        gl.uniform1i(self.uniforms.get(name), unit);
    }

    /// Sets a vector in pixels, converted to 32-bit floats.
    pub(super) fn set_pixels(&self, gl: &Gl, name: &str, [x, y]: [f64; 2]) {
        self.set(gl, name, &[x as f32, y as f32]);
    }
}

/// Returns the location of each uniform of a program by name; names of arrays omit the brackets.
fn uniforms(gl: &Gl, program: &WebGlProgram) -> HashMap<String, WebGlUniformLocation> {
    let count = gl.get_program_parameter(program, Gl::ACTIVE_UNIFORMS).as_f64().unwrap_or(0.0) as u32;
    (0..count)
        .filter_map(|index| {
            let name = gl.get_active_uniform(program, index)?.name();
            let at = gl.get_uniform_location(program, &name)?;
            Some((name.trim_end_matches("[0]").to_owned(), at))
        })
        .collect()
}

fn compile(gl: &Gl, kind: u32, source: &str) -> Option<WebGlShader> {
    let shader = gl.create_shader(kind)?;
    gl.shader_source(&shader, source);
    gl.compile_shader(&shader);
    let is_compiled = gl.get_shader_parameter(&shader, Gl::COMPILE_STATUS).is_truthy();
    if !is_compiled {
        web_sys::console::warn_1(&gl.get_shader_info_log(&shader).unwrap_or_default().into());
    }
    is_compiled.then_some(shader)
}
