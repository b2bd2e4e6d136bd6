//! A linked program and its uniforms by name.

use super::{
    webgl::plot_in_canvas,
    webgl_shaders::{BAND_FRAGMENT, BAND_VERTEX, PIECE_FRAGMENT, PIECE_VERTEX},
};
use crate::{
    draw::{
        scene::{Frame, Placement},
        shade,
        theme::HUES,
    },
    worker::PictureData,
};
use std::collections::HashMap;
use web_sys::{WebGl2RenderingContext as Gl, WebGlProgram, WebGlShader, WebGlUniformLocation};

/// A program on the graphics card.
pub(super) struct Program {
    program: WebGlProgram,
    uniforms: HashMap<&'static str, WebGlUniformLocation>,
}

/// The program that fills bands, `None` if the graphics card refuses it.
pub(super) fn band_program(gl: &Gl) -> Option<Program> {
    const UNIFORMS: [&str; 17] = [
        "offset",
        "scale",
        "size",
        "origin",
        "stripes",
        "pixel_ratio",
        "fills",
        "initial",
        "initial_hatch",
        "merged",
        "merged_lines",
        "separator",
        "hover",
        "accent",
        "background",
        "marks",
        "marked",
    ];
    Program::link(gl, BAND_VERTEX, &with_constants(BAND_FRAGMENT), &UNIFORMS)
}

/// The program that draws outlines, `None` if the graphics card refuses it.
pub(super) fn piece_program(gl: &Gl) -> Option<Program> {
    Program::link(gl, PIECE_VERTEX, PIECE_FRAGMENT, &["offset", "scale", "size", "thickness", "tint"])
}

/// A fragment shader with the numbers of [`shade`] in front of it.
fn with_constants(source: &str) -> String {
    let (version, rest) = source.split_once('\n').unwrap_or(("", source));
    let integers = [("HUES", HUES as u32), ("SHADES", shade::SHADES)];
    let owners = [("INITIAL", PictureData::INITIAL), ("MERGED", PictureData::MERGED)];
    let numbers = [
        ("HATCH_PERIOD", shade::HATCH_PERIOD),
        ("LINE_PERIOD", shade::LINE_PERIOD),
        ("SEPARATED", shade::SEPARATED),
        ("HOVER_SHARE", f64::from(shade::HOVER_SHARE)),
        ("PIN_SHARE", f64::from(shade::PIN_SHARE)),
        ("DIM_SHARE", f64::from(shade::DIM_SHARE)),
    ];
    let lines = (integers.iter().map(|(name, value)| format!("#define {name} {value}\n")))
        .chain(owners.iter().map(|(name, value)| format!("#define {name} {value}u\n")))
        .chain(numbers.iter().map(|(name, value)| format!("#define {name} {value:?}\n")));
    format!("{version}\n{}{rest}", lines.collect::<String>())
}

impl Program {
    fn link(gl: &Gl, vertex: &str, fragment: &str, names: &[&'static str]) -> Option<Self> {
        let program = gl.create_program()?;
        for (kind, source) in [(Gl::VERTEX_SHADER, vertex), (Gl::FRAGMENT_SHADER, fragment)] {
            gl.attach_shader(&program, &compile(gl, kind, source)?);
        }
        gl.link_program(&program);
        let is_linked = gl.get_program_parameter(&program, Gl::LINK_STATUS).is_truthy();
        let uniforms =
            names.iter().filter_map(|&name| Some((name, gl.get_uniform_location(&program, name)?))).collect();
        is_linked.then_some(Self { program, uniforms })
    }

    /// Takes the program into use and tells it where the picture goes.
    pub(super) fn place(&self, gl: &Gl, frame: &Frame<'_>, placement: &Placement) {
        gl.use_program(Some(&self.program));
        let (origin, size) = plot_in_canvas(frame);
        self.set_floats(gl, "offset", &placement.offset.map(|pixels| pixels as f32));
        self.set_floats(gl, "scale", &placement.scale.map(|pixels| pixels as f32));
        self.set_floats(gl, "size", &size.map(|pixels| pixels as f32));
        self.set_floats(gl, "origin", &origin.map(|pixels| pixels as f32));
    }

    /// Sets a number or a vector; a name that the program does not use is passed over.
    pub(super) fn set_floats(&self, gl: &Gl, name: &str, values: &[f32]) {
        let at = self.uniforms.get(name);
        match values.len() {
            1 => gl.uniform1fv_with_f32_array(at, values),
            2 => gl.uniform2fv_with_f32_array(at, values),
            3 => gl.uniform3fv_with_f32_array(at, values),
            _ => gl.uniform4fv_with_f32_array(at, values),
        }
    }

    /// Sets an array of colours without opacity.
    pub(super) fn set_triples(&self, gl: &Gl, name: &str, values: &[f32]) {
        gl.uniform3fv_with_f32_array(self.uniforms.get(name), values);
    }

    /// Sets the owners under the cursor and pinned.
    pub(super) fn set_owners(&self, gl: &Gl, owners: [Option<u32>; 2]) {
        let [hovered, pinned] = owners;
        gl.uniform2ui(self.uniforms.get("marks"), hovered.unwrap_or(0), pinned.unwrap_or(0));
        gl.uniform2i(self.uniforms.get("marked"), hovered.is_some().into(), pinned.is_some().into());
    }
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
