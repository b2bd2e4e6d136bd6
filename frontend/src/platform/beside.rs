//! Places an element beside another one.

use super::browser::window;
use super::surface::{set_style, size_of_element};
use web_sys::{Element, HtmlElement};

/// Attribute of the element that something points at.
const POINTED: &str = "data-pointed";

/// Marks an element while something points at it.
pub struct Pointed {
    element: Element,
}

impl Drop for Pointed {
    fn drop(&mut self) {
        // It fails only for names that are no attributes.
        let _ = self.element.remove_attribute(POINTED);
    }
}

/// Moves an element to where `place` puts it beside the first element that matches a selector, and focuses it.
///
/// `place` gets the rectangle of that element, the size of the moved one and that of the window. The result marks the
/// element that is pointed at; it is `None` if there is no such element.
pub fn place_beside(
    moved: &HtmlElement,
    selector: &str,
    place: impl Fn((f64, f64, f64, f64), (f64, f64), (f64, f64)) -> (f64, f64),
) -> Option<Pointed> {
    let element = window().document()?.query_selector(selector).ok().flatten()?;
    element.scroll_into_view_with_bool(false);
    let rect = element.get_bounding_client_rect();
    let pixels =
        |value: Result<wasm_bindgen::JsValue, _>| value.ok().and_then(|value: wasm_bindgen::JsValue| value.as_f64());
    let room = (pixels(window().inner_width()).unwrap_or(0.0), pixels(window().inner_height()).unwrap_or(0.0));
    let (x, y) = place((rect.left(), rect.top(), rect.width(), rect.height()), size_of_element(moved), room);
    set_style(moved, "transform", &format!("translate({x:.0}px, {y:.0}px)"));
    let _ = element.set_attribute(POINTED, "");
    // It fails on elements that can't take the focus, which does no harm.
    let _ = moved.focus();
    Some(Pointed { element })
}
