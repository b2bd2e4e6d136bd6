//! Handles keys that are pressed anywhere on the page, and moves the focus.

use super::browser::window;
use super::surface::on_event;
use crate::state::KeyPress;
use gloo_events::EventListener;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, KeyboardEvent};

/// Listens to the keyboard; `on_press` returns true if it used the key press, which then has no effect in the browser.
pub fn on_keys(on_press: impl Fn(KeyPress) -> bool + 'static) -> EventListener {
    on_event(&window(), "keydown", move |event: &KeyboardEvent| {
        // The focused control goes first; for example, a tab list uses the arrow keys itself.
        if !event.default_prevented() && on_press(press(event)) {
            event.prevent_default();
        }
    })
}

fn press(event: &KeyboardEvent) -> KeyPress {
    KeyPress {
        key: event.key(),
        shift: event.shift_key(),
        modified: event.ctrl_key() || event.alt_key() || event.meta_key(),
        in_text: event.target().is_some_and(|target| is_text(target.unchecked_ref())),
    }
}

/// Returns true for elements into which the user types.
pub(super) fn is_text(element: &Element) -> bool {
    let is_editable = element.dyn_ref::<HtmlElement>().is_some_and(HtmlElement::is_content_editable);
    is_editable || matches!(element.tag_name().as_str(), "TEXTAREA" | "SELECT" | "INPUT")
}

/// Moves the focus to the element with this `id`, and returns whether it exists.
pub fn focus_element(id: &str) -> bool {
    focus(window().document().and_then(|document| document.get_element_by_id(id)))
}

/// Moves the focus to the first element inside `parent` that matches a selector.
pub fn focus_first(parent: &Element, selector: &str) {
    focus(parent.query_selector(selector).ok().flatten());
}

fn focus(element: Option<Element>) -> bool {
    let Some(Ok(element)) = element.map(|element| element.dyn_into::<HtmlElement>()) else { return false };
    // It fails on elements that can't take the focus, which does no harm.
    let _ = element.focus();
    true
}
