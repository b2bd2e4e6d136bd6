//! Hook for the size of an element.

use crate::platform::{ResizeListener, size_of_element};
use web_sys::HtmlElement;
use yew::prelude::*;

/// Returns the current width and height of an element in CSS pixels; 0 before it is mounted.
#[hook]
pub fn use_size(node: &NodeRef) -> (f64, f64) {
    let size = use_state_eq(|| (0.0, 0.0));
    let setter = size.setter();
    use_effect_with(node.clone(), move |node| {
        let listener = node.cast::<HtmlElement>().and_then(|element| {
            setter.set(size_of_element(&element));
            let watched = element.clone();
            ResizeListener::new(&element, move || setter.set(size_of_element(&watched)))
        });
        move || drop(listener)
    });
    *size
}
