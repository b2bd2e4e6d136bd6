//! Separator by which the dock's height is changed.

use std::rc::Rc;
use web_sys::HtmlElement;
use yew::prelude::*;

/// Minimum height of the dock in CSS pixels: its tabs and a few rows.
const LEAST_PX: f64 = 140.0;

/// Minimum height left for the timeline, in CSS pixels: its minimap, to which it folds.
const TIMELINE_PX: f64 = 72.0;

/// Distance per press of an arrow key, in CSS pixels.
const STEP_PX: f64 = 32.0;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct GripProps {
    pub(super) dock: NodeRef,
    /// Called to maximise the dock.
    pub(super) on_maximize: Callback<()>,
}

/// Shows a separator that is dragged, or moved by the arrow keys; a double-click maximises the dock.
#[component]
pub(super) fn Grip(props: &GripProps) -> Html {
    let from = use_mut_ref(|| None::<f64>);
    let share = use_state_eq(|| None::<i32>);
    use_effect_with(props.dock.clone(), {
        let share = share.setter();
        move |dock| share.set(share_of(dock))
    });
    let grow = {
        let (dock, share) = (props.dock.clone(), share.setter());
        Rc::new(move |by_px: f64| {
            grow(&dock, by_px);
            share.set(share_of(&dock));
        })
    };
    let onpointerdown = {
        let from = from.clone();
        move |event: PointerEvent| {
            event.prevent_default();
            let grip: HtmlElement = event.target_unchecked_into();
            // Capturing may fail; the drag then only ends where the pointer leaves the grip.
            let _ = grip.set_pointer_capture(event.pointer_id());
            *from.borrow_mut() = Some(f64::from(event.client_y()));
        }
    };
    let onpointermove = {
        let (from, grow) = (from.clone(), grow.clone());
        move |event: PointerEvent| {
            if let Some(last) = from.borrow_mut().as_mut() {
                let y = f64::from(event.client_y());
                grow(*last - y);
                *last = y;
            }
        }
    };
    let onpointerup = move |_: PointerEvent| *from.borrow_mut() = None;
    let onkeydown = move |event: KeyboardEvent| {
        let by_px = match event.key().as_str() {
            "ArrowUp" => STEP_PX,
            "ArrowDown" => -STEP_PX,
            _ => return,
        };
        event.prevent_default();
        event.stop_propagation();
        grow(by_px);
    };
    html! {
        <div class="dock-grip" role="separator" aria-orientation="horizontal" aria-label="Height of the view below"
            aria-valuemin="0" aria-valuemax="100" aria-valuenow={share.map(|share| share.to_string())}
            aria-valuetext={share.map(|share| format!("{share} % of the height"))}
            title="Drag to change the height; double-click to maximize"
            tabindex="0" {onpointerdown} {onpointermove} {onpointerup} {onkeydown}
            ondblclick={props.on_maximize.reform(|_: MouseEvent| ())}></div>
    }
}

/// Returns the dock's share of the stage's height, in per cent.
fn share_of(dock: &NodeRef) -> Option<i32> {
    let dock = dock.cast::<HtmlElement>()?;
    let whole = dock.parent_element()?.client_height();
    (whole > 0).then(|| (100 * dock.offset_height() / whole).clamp(0, 100))
}

fn grow(dock: &NodeRef, by_px: f64) {
    let Some(dock) = dock.cast::<HtmlElement>() else { return };
    let most = dock.parent_element().map_or(f64::MAX, |stage| f64::from(stage.client_height()) - TIMELINE_PX);
    let height = (f64::from(dock.offset_height()) + by_px).clamp(LEAST_PX, most.max(LEAST_PX));
    // `set_property` fails only for an invalid name.
    let _ = dock.style().set_property("--dock-height", &format!("{height}px"));
}
