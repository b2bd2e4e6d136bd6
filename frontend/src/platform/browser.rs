//! Small browser functions: clock, clipboard, scrolling, title and dialogs.

use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Element, HtmlDialogElement, HtmlElement, UrlSearchParams, Window};

pub(super) fn window() -> Window {
    web_sys::window().expect("the page has a window")
}

/// Returns the element with this id.
///
/// # Panics
/// Panics if the document has no such element.
pub(super) fn element(id: &str) -> Element {
    let document = window().document().expect("the page has a document");
    document.get_element_by_id(id).expect("the document has the element")
}

/// Returns the milliseconds since the page was opened.
pub fn now_ms() -> f64 {
    window().performance().map_or(0.0, |performance| performance.now())
}

/// Returns the number of hardware threads, as far as the browser reveals it.
pub fn processors() -> usize {
    window().navigator().hardware_concurrency() as usize
}

/// Sets a mark on the browser's performance timeline, which benchmarks and browser tests read.
pub fn mark(name: &str) {
    if let Some(performance) = window().performance() {
        // It fails only for names that the browser itself uses.
        let _ = performance.mark(name);
    }
}

/// Copies a text to the clipboard, and returns whether that worked.
pub async fn copy_text(text: String) -> bool {
    JsFuture::from(window().navigator().clipboard().write_text(&text)).await.is_ok()
}

/// Returns a parameter of the page's address; it is empty for a parameter without a value.
pub fn search_param(name: &str) -> Option<String> {
    let search = window().location().search().ok()?;
    UrlSearchParams::new_with_str(&search).ok()?.get(name)
}

/// Scrolls to the first element that matches a selector, unless all of it is in view.
pub fn bring_into_view(selector: &str) {
    let found = window().document().and_then(|document| document.query_selector(selector).ok().flatten());
    let Some(element) = found else { return };
    let (rect, height) = (element.get_bounding_client_rect(), window().inner_height().ok().and_then(|px| px.as_f64()));
    if rect.top() < 0.0 || height.is_some_and(|height| rect.bottom() > height) {
        element.scroll_into_view();
    }
}

/// Sets the title of the document.
pub fn set_title(title: &str) {
    if let Some(document) = window().document() {
        document.set_title(title);
    }
}

/// Opens a `dialog` as a modal one: the browser keeps the focus in it and closes it on Esc.
///
/// # Errors
/// Returns an error if the element is not in the page.
pub fn show_modal(dialog: &HtmlElement) -> Result<(), JsValue> {
    let dialog: &HtmlDialogElement = wasm_bindgen::JsCast::unchecked_ref(dialog);
    if dialog.open() { Ok(()) } else { dialog.show_modal() }
}
