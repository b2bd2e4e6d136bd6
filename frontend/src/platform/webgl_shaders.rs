//! The programs that run on the graphics card.
//!
//! All lengths are device pixels of the plot, y upwards; `origin` is the plot's corner in the canvas.

/// Corners of a band, computed from its rectangle.
pub(super) const BAND_VERTEX: &str = r"#version 300 es
precision highp float;
precision highp int;
layout(location = 0) in vec4 box;
layout(location = 1) in uvec2 tag;
uniform vec2 offset;
uniform vec2 scale;
uniform vec2 size;
flat out uvec2 v_tag;
flat out vec2 v_rows;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  vec2 low = box.xz * scale + offset;
  vec2 high = box.yw * scale + offset;
  v_tag = tag;
  v_rows = vec2(low.y, high.y);
  gl_Position = vec4(mix(low, high, corner) / size * 2.0 - 1.0, 0.0, 1.0);
}";

/// The fill of a band: hue and shade, stripes, separator, hover and pin.
///
/// `marks` are the owners under the cursor and pinned, `marked` tells which of them there are.
pub(super) const BAND_FRAGMENT: &str = r"#version 300 es
precision highp float;
precision highp int;
flat in uvec2 v_tag;
flat in vec2 v_rows;
uniform vec2 origin;
uniform vec2 stripes;
uniform float pixel_ratio;
uniform vec3 fills[HUES * SHADES];
uniform vec3 initial;
uniform vec3 initial_hatch;
uniform vec3 merged;
uniform vec3 merged_lines;
uniform vec4 separator;
uniform vec3 hover;
uniform vec3 accent;
uniform vec3 background;
uniform uvec2 marks;
uniform bvec2 marked;
out vec4 color;
vec3 fill(vec2 at) {
  vec2 moved = (at + stripes) / pixel_ratio;
  if (v_tag.x == INITIAL) {
    float wave = abs(fract((moved.x + moved.y) / HATCH_PERIOD) - 0.5) * HATCH_PERIOD;
    return mix(initial_hatch, initial, smoothstep(0.35, 1.35, wave));
  }
  if (v_tag.x == MERGED) {
    return mix(merged_lines, merged, step(1.0, mod(moved.y, LINE_PERIOD)));
  }
  return fills[v_tag.y % uint(HUES * SHADES)];
}
void main() {
  vec2 at = gl_FragCoord.xy - origin;
  vec3 shade = fill(at);
  float height = v_rows.y - v_rows.x;
  float above = at.y - v_rows.x;
  float below = v_rows.y - at.y;
  bool is_pinned = marked.y && v_tag.x == marks.y;
  if (marked.y && !is_pinned) shade = mix(shade, background, DIM_SHARE);
  if (above < pixel_ratio) shade = mix(shade, separator.rgb, separator.a * clamp((height - SEPARATED) / 4.0, 0.0, 1.0));
  if (marked.x && v_tag.x == marks.x && !is_pinned) shade = mix(shade, hover, HOVER_SHARE);
  if (is_pinned) shade = mix(shade, accent, min(above, below) < 2.0 * pixel_ratio ? 1.0 : PIN_SHARE);
  color = vec4(shade, 1.0);
}";

/// Corners of a piece of an outline, snapped to whole pixels.
pub(super) const PIECE_VERTEX: &str = r"#version 300 es
precision highp float;
layout(location = 0) in vec4 piece;
uniform vec2 offset;
uniform vec2 scale;
uniform vec2 size;
uniform float thickness;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  vec2 low = floor(piece.xz * scale + offset - thickness * 0.5 + 0.5);
  vec2 high = floor(piece.yw * scale + offset - thickness * 0.5 + 0.5) + thickness;
  gl_Position = vec4(mix(low, high, corner) / size * 2.0 - 1.0, 0.0, 1.0);
}";

/// One colour.
pub(super) const PIECE_FRAGMENT: &str = r"#version 300 es
precision mediump float;
uniform vec4 tint;
out vec4 color;
void main() {
  color = tint;
}";
