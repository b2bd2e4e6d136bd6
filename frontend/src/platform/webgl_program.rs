//! Linked programs and their uniforms by name.

use super::webgl_shaders::{
    BAND_FRAGMENT, BAND_VERTEX, IMAGE_FRAGMENT, IMAGE_VERTEX, MARK_FRAGMENT, PIECE_FRAGMENT, PIECE_VERTEX,
};
use crate::{
    draw::{color::Color, shade, theme::HUES},
    worker::PictureData,
};
use std::collections::HashMap;
use web_sys::{WebGl2RenderingContext as Gl, WebGlProgram, WebGlShader, WebGlUniformLocation};

/// A program on the graphics card.
pub(super) struct Program {
    program: WebGlProgram,
    uniforms: HashMap<String, WebGlUniformLocation>,
}

/// All programs of the painter.
pub(super) struct Programs {
    /// Fills bands.
    pub(super) bands: Program,
    /// Lays a picture over the plot.
    pub(super) image: Program,
    /// Tints the bands of one owner.
    pub(super) marks: Program,
    /// Draws outlines.
    pub(super) pieces: Program,
}

impl Programs {
    /// Compiles all of them, `None` if the graphics card refuses one.
    pub(super) fn link(gl: &Gl) -> Option<Self> {
        Some(Self {
            bands: Program::link(gl, BAND_VERTEX, BAND_FRAGMENT)?,
            image: Program::link(gl, IMAGE_VERTEX, IMAGE_FRAGMENT)?,
            marks: Program::link(gl, BAND_VERTEX, MARK_FRAGMENT)?,
            pieces: Program::link(gl, PIECE_VERTEX, PIECE_FRAGMENT)?,
        })
    }
}

/// A shader with the numbers of [`shade`] in front of it.
fn with_constants(source: &str) -> String {
    let (version, rest) = source.split_once('\n').unwrap_or(("", source));
    let integers = [("HUES", HUES as u32), ("SHADES", shade::SHADES)];
    let owners = [("INITIAL", PictureData::INITIAL), ("MERGED", PictureData::MERGED)];
    let numbers = [
        ("HATCH_PERIOD", shade::HATCH_PERIOD),
        ("MERGED_SHARE", f64::from(shade::MERGED_SHARE)),
        ("SEPARATED", shade::SEPARATED),
    ];
    let lines = (integers.iter().map(|(name, value)| format!("#define {name} {value}\n")))
        .chain(owners.iter().map(|(name, value)| format!("#define {name} {value}u\n")))
        .chain(numbers.iter().map(|(name, value)| format!("#define {name} {value:?}\n")));
    format!("{version}\n{}{rest}", lines.collect::<String>())
}

impl Program {
    fn link(gl: &Gl, vertex: &str, fragment: &str) -> Option<Self> {
        let program = gl.create_program()?;
        for (kind, source) in [(Gl::VERTEX_SHADER, vertex), (Gl::FRAGMENT_SHADER, fragment)] {
            gl.attach_shader(&program, &compile(gl, kind, &with_constants(source))?);
        }
        gl.link_program(&program);
        let is_linked = gl.get_program_parameter(&program, Gl::LINK_STATUS).is_truthy();
        is_linked.then(|| Self { uniforms: uniforms(gl, &program), program })
    }

    /// Takes the program into use.
    pub(super) fn begin(&self, gl: &Gl) {
        gl.use_program(Some(&self.program));
    }

    /// Sets a number or a vector; a name that the program does not use is passed over.
    pub(super) fn set(&self, gl: &Gl, name: &str, values: &[f32]) {
        let at = self.uniforms.get(name);
        match values.len() {
            1 => gl.uniform1fv_with_f32_array(at, values),
            2 => gl.uniform2fv_with_f32_array(at, values),
            _ => gl.uniform4fv_with_f32_array(at, values),
        }
    }

    /// Sets pixels, which are plain numbers on the graphics card.
    pub(super) fn set_pixels(&self, gl: &Gl, name: &str, [x, y]: [f64; 2]) {
        self.set(gl, name, &[x as f32, y as f32]);
    }

    /// Sets colours without their opacity.
    pub(super) fn set_colors(&self, gl: &Gl, name: &str, colors: &[Color]) {
        let channels: Vec<f32> = colors.iter().flat_map(|color| color.floats().into_iter().take(3)).collect();
        gl.uniform3fv_with_f32_array(self.uniforms.get(name), &channels);
    }
}

/// Where each uniform of a program is; arrays by their name without brackets.
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
