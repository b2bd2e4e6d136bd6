//! Executes the drawing operations for text, lines and marks over the plot.

use super::canvas::{context_of, fit_canvas};
use crate::draw::color::Color;
use crate::draw::layout::{Layout, Rect};
use crate::draw::overlay::{Align, Font, Op};
use js_sys::Array;
use wasm_bindgen::JsValue;
use web_sys::{CanvasRenderingContext2d as Context, HtmlCanvasElement};

/// Fonts of the page, because a canvas does not inherit them.
const FAMILY: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/// Clears the canvas, fits it to the layout and executes `ops` in order.
pub fn paint_overlay(canvas: &HtmlCanvasElement, layout: &Layout, ops: &[Op], is_software: bool) {
    let Some(context) = context_of(canvas, is_software) else { return };
    let (outer, ratio) = (layout.outer, layout.pixel_ratio);
    fit_canvas(canvas, outer.width, outer.height, ratio);
    // Only a matrix without an inverse is an error, and this one has an inverse.
    let _ = context.set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0);
    context.clear_rect(0.0, 0.0, outer.width, outer.height);
    context.set_text_baseline("middle");
    ops.iter().for_each(|op| carry_out(&context, op));
}

fn carry_out(context: &Context, op: &Op) {
    match op {
        Op::Fill { rect, radius, color } => {
            context.set_fill_style_str(&color.css());
            context.begin_path();
            outline(context, *rect, *radius);
            context.fill();
        }
        Op::Line { from, to, width, color, dashed } => stroke(context, [*from, *to], *width, *color, *dashed),
        Op::Text { x, y, text, align, font, color, halo } => {
            write(context, (*x, *y), text, (*align, *font), (*color, *halo));
        }
        Op::Dot { at, radius, color, ring } => {
            for (radius, color) in [(radius + 1.5, ring), (*radius, color)] {
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
    }
}

/// Adds a rectangle with rounded corners to the path; without `roundRect`, which some browsers lack, it uses arcs.
fn outline(context: &Context, rect: Rect, radius: f64) {
    if radius <= 0.0 {
        context.rect(rect.x, rect.y, rect.width, rect.height);
        return;
    }
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

fn stroke(context: &Context, [from, to]: [(f64, f64); 2], width: f64, color: Color, dashed: bool) {
    let pattern = if dashed { Array::of2(&JsValue::from(3), &JsValue::from(3)) } else { Array::new() };
    // Only a negative dash length is an error.
    let _ = context.set_line_dash(&pattern);
    context.set_stroke_style_str(&color.css());
    context.set_line_width(width);
    context.begin_path();
    context.move_to(from.0, from.1);
    context.line_to(to.0, to.1);
    context.stroke();
}

fn write(context: &Context, at: (f64, f64), text: &str, (align, font): (Align, Font), colors: (Color, Option<Color>)) {
    let weight = match font {
        Font::Label => 400,
        Font::Strong => 600,
    };
    context.set_font(&format!("{weight} {}px {FAMILY}", font.size()));
    context.set_text_align(match align {
        Align::Left => "left",
        Align::Center => "center",
        Align::Right => "right",
    });
    if let Some(halo) = colors.1 {
        context.set_stroke_style_str(&halo.css());
        context.set_line_width(3.0);
        context.set_line_join("round");
        // Browsers raise no error when they draw a plain string.
        let _ = context.stroke_text(text, at.0, at.1);
    }
    context.set_fill_style_str(&colors.0.css());
    let _ = context.fill_text(text, at.0, at.1);
}
