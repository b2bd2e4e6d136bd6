//! Canvas that shows a drawing in whatever size it has.

use crate::draw::sketch::Sketch;
use crate::hooks::use_size;
use crate::platform::{paint_ops, pixel_ratio};
use web_sys::HtmlCanvasElement;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct PictureProps {
    #[prop_or_default]
    pub class: Classes,
    /// Accessible name; without one, texts around the picture say what it shows.
    #[prop_or_default]
    pub label: Option<AttrValue>,
    /// Makes the drawing for a width and a height in CSS pixels.
    pub draw: Callback<(f64, f64), Sketch>,
}

/// Shows a drawing, and draws it again when its size changes.
#[component]
pub fn Picture(props: &PictureProps) -> Html {
    let (frame, canvas) = (use_node_ref(), use_node_ref());
    let size = use_size(&frame);
    use_effect_with((props.draw.clone(), size, canvas.clone()), |(draw, size, canvas)| {
        if let Some(canvas) = canvas.cast::<HtmlCanvasElement>() {
            paint_ops(&canvas, *size, pixel_ratio(), &draw.emit(*size).ops);
        }
    });
    html! {
        <span ref={frame} class={classes!("picture", props.class.clone())}>
            if let Some(label) = &props.label {
                <canvas ref={canvas} role="img" aria-label={label} />
            } else {
                <canvas ref={canvas} aria-hidden="true" />
            }
        </span>
    }
}
