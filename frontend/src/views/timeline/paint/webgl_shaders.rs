//! Shaders that run on the graphics card.
//!
//! All lengths are in device pixels, with y pointing up from the lower left corner of the viewport.

/// Computes the corners of a band from its rectangle.
pub(super) const BAND_VERTEX: &str = r"#version 300 es
precision highp float;
precision highp int;
layout(location = 0) in vec4 box;
uniform vec2 offset;
uniform vec2 scale;
uniform vec2 size;
flat out vec2 v_rows;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  vec2 low = box.xz * scale + offset;
  vec2 high = box.yw * scale + offset;
  v_rows = vec2(low.y, high.y);
  gl_Position = vec4(mix(low, high, corner) / size * 2.0 - 1.0, 0.0, 1.0);
}";

/// Tints a band; its upper and lower edge are opaque unless `edge` is 0.
pub(super) const MARK_FRAGMENT: &str = r"#version 300 es
precision highp float;
flat in vec2 v_rows;
uniform float origin;
uniform float edge;
uniform vec4 tint;
out vec4 color;
void main() {
  float at = gl_FragCoord.y - origin;
  bool is_edge = min(at - v_rows.x, v_rows.y - at) < edge;
  color = vec4(tint.rgb, is_edge ? 1.0 : tint.a);
}";

/// Computes the corners of a picture.
pub(super) const IMAGE_VERTEX: &str = r"#version 300 es
precision highp float;
uniform vec2 offset;
uniform vec2 scale;
uniform vec2 size;
out vec2 v_at;
void main() {
  v_at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = vec4((v_at * scale + offset) / size * 2.0 - 1.0, 0.0, 1.0);
}";

/// Looks up each pixel of the picture in the palette and mixes it with the background as far as `veil` says.
pub(super) const IMAGE_FRAGMENT: &str = r"#version 300 es
precision highp float;
in vec2 v_at;
uniform highp sampler2D image;
uniform sampler2D palette;
uniform vec4 veil;
out vec4 color;
void main() {
  int value = int(texture(image, v_at).r * 255.0 + 0.5);
  color = vec4(mix(texelFetch(palette, ivec2(value, 0), 0).rgb, veil.rgb, veil.a), 1.0);
}";

/// Computes the corners of a piece of an outline, snapped to whole pixels.
pub(super) const PIECE_VERTEX: &str = r"#version 300 es
precision highp float;
layout(location = 0) in vec4 piece;
layout(location = 1) in float strength;
uniform vec2 offset;
uniform vec2 scale;
uniform vec2 size;
uniform float thickness;
flat out float v_strength;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  vec2 low = floor(piece.xz * scale + offset - thickness * 0.5 + 0.5);
  vec2 high = floor(piece.yw * scale + offset - thickness * 0.5 + 0.5) + thickness;
  v_strength = strength;
  gl_Position = vec4(mix(low, high, corner) / size * 2.0 - 1.0, 0.0, 1.0);
}";

/// Fills a piece with one colour, as opaque as the piece is strong.
pub(super) const PIECE_FRAGMENT: &str = r"#version 300 es
precision highp float;
flat in float v_strength;
uniform vec4 tint;
out vec4 color;
void main() {
  color = vec4(tint.rgb, tint.a * v_strength);
}";
