//! Canvases that are drawn in two dimensions: carries out drawing operations.

use crate::draw::color::Color;
use crate::draw::op::{Align, DASH, Font, HALO, Op, Point, RING};
use crate::draw::rect::Rect;
use js_sys::{Array, Object, Reflect};
use std::cell::OnceCell;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CanvasRenderingContext2d, CanvasRenderingContext2d as Context, HtmlCanvasElement};

thread_local! {
    /// True if the processor draws everything.
    static IS_SOFTWARE: OnceCell<bool> = const { OnceCell::new() };
}

/// Returns the context of a canvas without transparent parts, which the browser need not blend with what is behind.
pub fn opaque_context_of(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    context_with(canvas, false)
}

/// Returns the 2D context of a canvas, which is kept in the page's memory on a machine without a graphics card.
///
/// There Chromium emulates one even for lines and text, which takes twice as long as drawing them.
/// The first call for a canvas makes the choice.
fn context_with(canvas: &HtmlCanvasElement, alpha: bool) -> Option<CanvasRenderingContext2d> {
    let is_software = IS_SOFTWARE.with(|known| *known.get_or_init(|| !has_graphics_card(canvas)));
    context(canvas, "2d", &[("willReadFrequently", is_software), ("alpha", alpha)])?.dyn_into().ok()
}

/// Returns true if the browser would draw WebGL with a graphics card, which it refuses to emulate when told so.
fn has_graphics_card(canvas: &HtmlCanvasElement) -> bool {
    let trial = sibling_of(canvas);
    trial.is_some_and(|trial| context(&trial, "webgl2", &[("failIfMajorPerformanceCaveat", true)]).is_some())
}

fn context(canvas: &HtmlCanvasElement, kind: &str, options: &[(&str, bool)]) -> Option<Object> {
    canvas.get_context_with_context_options(kind, &context_options(options)?).ok()?
}

/// Returns the options of a canvas's context as the browser takes them.
pub fn context_options(options: &[(&str, bool)]) -> Option<JsValue> {
    let object = Object::new();
    for &(name, value) in options {
        Reflect::set(&object, &name.into(), &value.into()).ok()?;
    }
    Some(object.into())
}

/// Creates a canvas that is not part of the page.
pub fn sibling_of(canvas: &HtmlCanvasElement) -> Option<HtmlCanvasElement> {
    canvas.owner_document()?.create_element("canvas").ok()?.dyn_into().ok()
}

/// Gives a canvas as many device pixels as it covers; an unchanged size is not set again, because that would clear it.
pub fn fit_canvas(canvas: &HtmlCanvasElement, width: f64, height: f64, pixel_ratio: f64) {
    let (width, height) =
        ((width * pixel_ratio).round().max(1.0) as u32, (height * pixel_ratio).round().max(1.0) as u32);
    if canvas.width() != width {
        canvas.set_width(width);
    }
    if canvas.height() != height {
        canvas.set_height(height);
    }
}

/// Fonts of the page, because a canvas does not inherit them.
const FAMILY: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/// Clears a canvas, fits it to a size in CSS pixels and carries out `ops` in order.
pub fn paint_ops(canvas: &HtmlCanvasElement, (width, height): (f64, f64), pixel_ratio: f64, ops: &[Op]) {
    let Some(context) = context_with(canvas, true) else { return };
    fit_canvas(canvas, width, height, pixel_ratio);
    // Only a matrix without an inverse is an error, and this one has an inverse.
    let _ = context.set_transform(pixel_ratio, 0.0, 0.0, pixel_ratio, 0.0, 0.0);
    context.clear_rect(0.0, 0.0, width, height);
    context.set_text_baseline("middle");
    ops.iter().for_each(|op| carry_out(&context, op));
}

fn carry_out(context: &Context, op: &Op) {
    match op {
        Op::Fill { rect, radius, color } => {
            context.set_fill_style_str(&color.css());
            // Without a graphics card, a path takes several times as long as a rectangle.
            if *radius <= 0.0 {
                return context.fill_rect(rect.x, rect.y, rect.width, rect.height);
            }
            context.begin_path();
            rounded(context, *rect, *radius);
            context.fill();
        }
        Op::Boxes { boxes, color } => {
            context.set_fill_style_str(&color.css());
            boxes.iter().for_each(|rect| context.fill_rect(rect.x, rect.y, rect.width, rect.height));
        }
        Op::Area { points, color } => {
            context.set_fill_style_str(&color.css());
            trace(context, points);
            context.fill();
        }
        Op::Line { points, width, color, dashed } => stroke(context, points, *width, *color, *dashed),
        Op::Text { x, y, text, align, font, color, halo } => {
            write(context, (*x, *y), text, (*align, *font), (*color, *halo));
        }
        Op::Dot { at, radius, color, ring } => {
            for (radius, color) in [(radius + RING, ring), (*radius, color)] {
                context.set_fill_style_str(&color.css());
                context.begin_path();
                // Only a negative radius is an error.
                let _ = context.arc(at.0, at.1, radius, 0.0, std::f64::consts::TAU);
                context.fill();
            }
        }
        Op::Clip(rect) => {
            context.save();
            context.begin_path();
            context.rect(rect.x, rect.y, rect.width, rect.height);
            context.clip();
        }
        Op::Unclip => context.restore(),
        // The elements around a canvas tell what it shows.
        Op::Hint { .. } => (),
    }
}

/// Adds a rectangle with rounded corners to the path; without `roundRect`, which some browsers lack, it uses arcs.
fn rounded(context: &Context, rect: Rect, radius: f64) {
    if context.round_rect_with_f64(rect.x, rect.y, rect.width, rect.height, radius).is_ok() {
        return;
    }
    let (left, top, right, bottom) = (rect.x, rect.y, rect.right(), rect.bottom());
    context.move_to(left + radius, top);
    for ((x, y), (next_x, next_y)) in [
        ((right, top), (right, bottom)),
        ((right, bottom), (left, bottom)),
        ((left, bottom), (left, top)),
        ((left, top), (right, top)),
    ] {
        // Only a negative radius is an error.
        let _ = context.arc_to(x, y, next_x, next_y, radius);
    }
    context.close_path();
}

fn stroke(context: &Context, points: &[Point], width: f64, color: Color, dashed: bool) {
    let [dash, gap] = DASH;
    let pattern = if dashed { Array::of2(&JsValue::from(dash), &JsValue::from(gap)) } else { Array::new() };
    // Only a negative dash length is an error.
    let _ = context.set_line_dash(&pattern);
    context.set_stroke_style_str(&color.css());
    context.set_line_width(width);
    context.set_line_join("round");
    trace(context, points);
    context.stroke();
}

/// Makes a line through these points the current path.
fn trace(context: &Context, points: &[Point]) {
    context.begin_path();
    for (index, &(x, y)) in points.iter().enumerate() {
        if index == 0 { context.move_to(x, y) } else { context.line_to(x, y) }
    }
}

fn write(context: &Context, at: Point, text: &str, (align, font): (Align, Font), colors: (Color, Option<Color>)) {
    context.set_font(&format!("{} {}px {FAMILY}", font.weight(), font.size));
    context.set_text_align(match align {
        Align::Left => "left",
        Align::Center => "center",
        Align::Right => "right",
    });
    if let Some(halo) = colors.1 {
        context.set_stroke_style_str(&halo.css());
        context.set_line_width(HALO);
        context.set_line_join("round");
        // Browsers raise no error when they draw a plain string.
        let _ = context.stroke_text(text, at.0, at.1);
    }
    context.set_fill_style_str(&colors.0.css());
    let _ = context.fill_text(text, at.0, at.1);
}
