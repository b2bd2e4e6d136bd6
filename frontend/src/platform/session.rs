//! Data that the browser or a tab of it keeps over reloads, and the events of leaving the page.

use super::browser::window;
use super::surface::on_event;
use gloo_events::EventListener;
use wasm_bindgen::JsValue;
use web_sys::{Event, Storage};

/// Session storage key of the tab's list of local files; `boot.js` checks whether it exists.
const FILES: &str = "snapscope-files";

/// Returns the stored list of local files.
pub fn session_text() -> Option<String> {
    tab_storage()?.get_item(FILES).ok()?
}

/// Stores the list of local files; `None` removes it.
pub fn keep_session(text: Option<&str>) {
    // If there is no room or permission, the list is lost on a reload.
    put(tab_storage(), FILES, text);
}

/// Stores a text under a name, or removes it; a failure has no effect.
pub(super) fn put(storage: Option<Storage>, name: &str, text: Option<&str>) {
    let _ = storage.map(|storage| match text {
        Some(text) => storage.set_item(name, text),
        None => storage.remove_item(name),
    });
}

/// Returns the storage of the tab; `None` if it is disabled.
pub(super) fn tab_storage() -> Option<Storage> {
    window().session_storage().ok()?
}

/// Returns a random name for a tab, which no other tab has.
pub fn new_session_id() -> String {
    let part = || (js_sys::Math::random() * f64::from(u32::MAX)) as u32;
    format!("{:08x}{:08x}{:08x}{:08x}", part(), part(), part(), part())
}

/// Makes the browser ask before it leaves the page, until the result is dropped.
pub fn guard_page() -> EventListener {
    on_event(&window(), "beforeunload", |event: &Event| {
        event.prevent_default();
        // Older browsers check this value; its text is never shown.
        let _ = js_sys::Reflect::set(event, &"returnValue".into(), &JsValue::TRUE);
    })
}

/// Listens for leaving the page, for another one or for good.
pub fn on_leave(call: impl Fn() + 'static) -> EventListener {
    EventListener::new(&window(), "pagehide", move |_| call())
}

/// Returns the stored text of a name; `None` if there is none or storage is disabled.
pub fn stored(name: &str) -> Option<String> {
    local_storage()?.get_item(name).ok()?
}

/// Stores a text under a name, and returns whether that worked.
pub fn store(name: &str, text: &str) -> bool {
    local_storage().is_some_and(|storage| storage.set_item(name, text).is_ok())
}

/// Returns the storage of the browser; `None` if it is disabled.
pub(super) fn local_storage() -> Option<Storage> {
    window().local_storage().ok()?
}
