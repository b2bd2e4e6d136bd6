//! Updates the parts of the timeline's elements that change between renderings.
//!
//! All of this happens at most once per frame and bypasses yew, because rendering a component takes longer than a frame
//! may.

use crate::draw::gesture::Point;
use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, EventTarget, HtmlCanvasElement, HtmlElement, PointerEvent, WheelEvent};

/// Elements that the timeline draws into.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Plot with its axes, which receives wheel and pointer events.
    pub plot: HtmlElement,
    /// Canvas of the bands and outlines.
    pub bands: HtmlCanvasElement,
    /// Canvas for text and lines over the bands.
    pub overlay: HtmlCanvasElement,
    /// Text next to the pointer.
    pub tooltip: HtmlElement,
    pub minimap: HtmlElement,
    /// Chart of the minimap.
    pub chart: HtmlCanvasElement,
    /// Marker of the part in view on the minimap.
    pub window: HtmlElement,
}

/// Listens to an event, and can keep the browser from its own action, such as scrolling by the wheel.
pub fn on_event<E: JsCast>(target: &EventTarget, name: &'static str, act: impl Fn(&E) + 'static) -> EventListener {
    let options = EventListenerOptions::enable_prevent_default();
    EventListener::new_with_options(target, name, options, move |event: &Event| act(event.unchecked_ref()))
}

/// Returns the turn of the wheel in CSS pixels; wheels may also report lines or pages.
pub fn turned_px(event: &WheelEvent) -> (f64, f64) {
    let unit_px = match event.delta_mode() {
        WheelEvent::DOM_DELTA_LINE => 33.0,
        WheelEvent::DOM_DELTA_PAGE => 400.0,
        _ => 1.0,
    };
    (event.delta_x() * unit_px, event.delta_y() * unit_px)
}

/// Returns the width and height of an element in CSS pixels.
pub fn size_of_element(element: &HtmlElement) -> (f64, f64) {
    (f64::from(element.client_width()), f64::from(element.client_height()))
}

/// Converts a point in client coordinates, as events give it, to one relative to an element.
pub fn point_in(element: &HtmlElement, client_x: f64, client_y: f64) -> Point {
    let corner = corner_of(element);
    (client_x - corner.0, client_y - corner.1)
}

/// Returns the pointer in the page's viewport, as gestures take it.
pub fn client_point(event: &PointerEvent) -> Point {
    (event.client_x().into(), event.client_y().into())
}

/// Returns the upper left corner of an element in the page's viewport, in CSS pixels.
pub fn corner_of(element: &HtmlElement) -> Point {
    let rect = element.get_bounding_client_rect();
    (rect.left(), rect.top())
}

/// Sets an attribute that tests and styles read.
pub fn set_attribute(element: &HtmlElement, name: &str, value: &str) {
    if element.get_attribute(name).as_deref() != Some(value) {
        // Only an invalid name is an error.
        let _ = element.set_attribute(name, value);
    }
}

/// Moves the minimap's window, which lies between the two children of its element.
///
/// They are moved and never resized: the browser would paint a resized one anew, and with it the page behind.
pub fn place_window(window: &HtmlElement, left: f64, right: f64) {
    let sides = window.children();
    let place = |index, transform: String| {
        if let Some(side) = sides.item(index).and_then(|side| side.dyn_into().ok()) {
            set_style(&side, "transform", &transform);
        }
    };
    place(0, format!("translateX(calc({left:.1}px - 100%))"));
    place(1, format!("translateX({right:.1}px)"));
}

/// Shows texts next to a point of the element's parent, or hides the element.
///
/// Each text goes into one child of the element; a child without text is hidden.
pub fn place_tooltip(tooltip: &HtmlElement, shown: Option<(Point, (f64, f64), [&str; 4])>) {
    let Some((at, room, texts)) = shown else {
        if !tooltip.hidden() {
            tooltip.set_hidden(true);
        }
        return;
    };
    let lines = tooltip.children();
    for (index, text) in texts.iter().enumerate() {
        if let Some(line) = lines.item(index as u32) {
            // Setting the same text again would make the browser recompute the layout.
            if line.text_content().as_deref() != Some(text) {
                line.set_text_content(Some(text));
            }
        }
    }
    if tooltip.hidden() {
        tooltip.set_hidden(false);
    }
    let (width, height) = size_of_element(tooltip);
    let x = if at.0 + 16.0 + width > room.0 { at.0 - 14.0 - width } else { at.0 + 16.0 };
    let y = if at.1 + 18.0 + height > room.1 { at.1 - 12.0 - height } else { at.1 + 18.0 };
    set_style(tooltip, "transform", &format!("translate({:.0}px, {:.0}px)", x.max(2.0), y.max(2.0)));
}

pub fn set_width(element: &HtmlElement, width: f64) {
    set_style(element, "width", &format!("{width:.0}px"));
}

pub fn set_height(element: &HtmlElement, height: f64) {
    set_style(element, "height", &format!("{height:.0}px"));
}

/// Sets a style property; the content security policy forbids the `style` attribute.
pub fn set_style(element: &HtmlElement, name: &str, value: &str) {
    // Only an unknown property is an error, and these are known.
    let _ = element.style().set_property(name, value);
}

/// Returns the pointer's position across an element as a fraction of its width.
///
/// The left edge is 0.0 and the right edge 1.0; a position outside of the element is below 0.0 or above 1.0.
pub fn share_across(element: &Element, event: &PointerEvent) -> f64 {
    let place = element.get_bounding_client_rect();
    (f64::from(event.client_x()) - place.left()) / place.width().max(1.0)
}
