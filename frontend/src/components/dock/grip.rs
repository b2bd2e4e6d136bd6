//! The edge by which the dock is made higher or lower.

use web_sys::HtmlElement;
use yew::prelude::*;

/// The lowest dock, in CSS pixels: its names and a few rows.
const LEAST_PX: f64 = 140.0;

/// What is left of the timeline at least, in CSS pixels.
const TIMELINE_PX: f64 = 160.0;

/// How far an arrow key moves it, in CSS pixels.
const STEP_PX: f64 = 32.0;

/// What the [`Grip`] moves.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct GripProps {
    /// The dock.
    pub(super) dock: NodeRef,
}

/// A separator that is dragged, or moved by the arrow keys.
#[component]
pub(super) fn Grip(props: &GripProps) -> Html {
    let from = use_mut_ref(|| None::<f64>);
    let onpointerdown = {
        let from = from.clone();
        move |event: PointerEvent| {
            event.prevent_default();
            let grip: HtmlElement = event.target_unchecked_into();
            // Without it the drag ends where the pointer leaves the grip, and nothing else is lost.
            let _ = grip.set_pointer_capture(event.pointer_id());
            *from.borrow_mut() = Some(f64::from(event.client_y()));
        }
    };
    let onpointermove = {
        let (from, dock) = (from.clone(), props.dock.clone());
        move |event: PointerEvent| {
            if let Some(last) = from.borrow_mut().as_mut() {
                let y = f64::from(event.client_y());
                grow(&dock, *last - y);
                *last = y;
            }
        }
    };
    let onpointerup = move |_: PointerEvent| *from.borrow_mut() = None;
    let onkeydown = {
        let dock = props.dock.clone();
        move |event: KeyboardEvent| {
            let by_px = match event.key().as_str() {
                "ArrowUp" => STEP_PX,
                "ArrowDown" => -STEP_PX,
                _ => return,
            };
            event.prevent_default();
            event.stop_propagation();
            grow(&dock, by_px);
        }
    };
    html! {
        <div class="dock-grip" role="separator" aria-orientation="horizontal" aria-label="Height of the view below"
            tabindex="0" {onpointerdown} {onpointermove} {onpointerup} {onkeydown}></div>
    }
}

fn grow(dock: &NodeRef, by_px: f64) {
    let Some(dock) = dock.cast::<HtmlElement>() else { return };
    let most = dock.parent_element().map_or(f64::MAX, |stage| f64::from(stage.client_height()) - TIMELINE_PX);
    let height = (f64::from(dock.offset_height()) + by_px).clamp(LEAST_PX, most.max(LEAST_PX));
    // It fails only for a name that is no property.
    let _ = dock.style().set_property("--dock-height", &format!("{height}px"));
}
