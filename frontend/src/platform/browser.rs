//! Small browser functions: clock, dates, clipboard, scrolling, title, dialogs, and an element beside another one.

use super::surface::{set_style, size_of_element};
use js_sys::{Date, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Element, HtmlDialogElement, HtmlElement, MediaQueryList, ScrollIntoViewOptions, ScrollLogicalPosition, Window,
};

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

pub(super) fn found(selector: &str) -> Option<Element> {
    window().document()?.query_selector(selector).ok()?
}

/// Returns the document's own element.
pub(super) fn root() -> Option<Element> {
    window().document()?.document_element()
}

/// Returns what the browser knows about a condition of style sheets.
pub(super) fn media(condition: &str) -> Option<MediaQueryList> {
    window().match_media(condition).ok()?
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

/// Scrolls to the first element that matches a selector, unless all of it is in view; a list scrolls sideways for it.
pub fn bring_into_view(selector: &str) {
    let Some(element) = found(selector) else { return };
    let (rect, height) = (element.get_bounding_client_rect(), window().inner_height().ok().and_then(|px| px.as_f64()));
    if rect.top() < 0.0 || height.is_some_and(|height| rect.bottom() > height) {
        element.scroll_into_view();
    } else {
        let nearest = ScrollIntoViewOptions::new();
        nearest.set_block(ScrollLogicalPosition::Nearest);
        nearest.set_inline(ScrollLogicalPosition::Nearest);
        element.scroll_into_view_with_scroll_into_view_options(&nearest);
    }
}

/// Presses the first button that matches a selector.
pub fn press(selector: &str) {
    if let Some(Ok(button)) = found(selector).map(|element| element.dyn_into::<HtmlElement>()) {
        button.click();
    }
}

pub fn set_title(title: &str) {
    if let Some(document) = window().document() {
        document.set_title(title);
    }
}

/// Opens a `dialog` as a modal one: the browser keeps the focus in it and closes it on Esc; it fails if the element is
/// not in the page.
pub fn show_modal(dialog: &HtmlElement) -> Result<(), JsValue> {
    let dialog: &HtmlDialogElement = dialog.unchecked_ref();
    if dialog.open() { Ok(()) } else { dialog.show_modal() }
}

const LANGUAGE: &str = "en-GB";

pub fn unix_ms() -> i64 {
    Date::now() as i64
}

/// Formats the day of a moment, such as `27 Nov 2026`.
pub fn day_text(unix_ms: i64) -> String {
    let options = Object::new();
    // It fails only for frozen objects.
    let _ = Reflect::set(&options, &"dateStyle".into(), &"medium".into());
    Date::new(&(unix_ms as f64).into()).to_locale_date_string(LANGUAGE, &options).into()
}

/// Attribute of the element that something points at.
const POINTED: &str = "data-pointed";

/// Marks an element while something points at it.
pub struct Pointed(Element);

impl Drop for Pointed {
    fn drop(&mut self) {
        // It fails only for names that are no attributes.
        let _ = self.0.remove_attribute(POINTED);
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
    let element = found(selector)?;
    element.scroll_into_view_with_bool(false);
    let rect = element.get_bounding_client_rect();
    let pixels = |value: Result<JsValue, _>| value.ok().and_then(|value| value.as_f64()).unwrap_or(0.0);
    let room = (pixels(window().inner_width()), pixels(window().inner_height()));
    let (x, y) = place((rect.left(), rect.top(), rect.width(), rect.height()), size_of_element(moved), room);
    set_style(moved, "transform", &format!("translate({x:.0}px, {y:.0}px)"));
    let _ = element.set_attribute(POINTED, "");
    // It fails on elements that can't take the focus, which does no harm.
    let _ = moved.focus();
    Some(Pointed(element))
}
