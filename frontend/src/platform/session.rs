//! What a tab of the browser remembers over reloads, and what happens when it leaves the page.

use super::browser::window;
use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::Storage;

/// Where the local files of a tab are named; `boot.js` looks whether there are any.
const FILES: &str = "snapscope-files";

/// What the tab remembers of its local files.
pub fn session_text() -> Option<String> {
    storage()?.get_item(FILES).ok()?
}

/// Has the tab remember its local files, `None` for none.
pub fn keep_session(text: Option<&str>) {
    let Some(storage) = storage() else { return };
    // Where there is no room or no permission, a reload forgets.
    let _ = match text {
        Some(text) => storage.set_item(FILES, text),
        None => storage.remove_item(FILES),
    };
}

fn storage() -> Option<Storage> {
    window().session_storage().ok()?
}

/// A name for a tab that no other has.
pub fn new_session_id() -> String {
    let part = || (js_sys::Math::random() * f64::from(u32::MAX)) as u32;
    format!("{:08x}{:08x}{:08x}{:08x}", part(), part(), part(), part())
}

/// Has the browser ask before it leaves the page, until it is dropped.
#[derive(Debug)]
pub struct LeaveGuard {
    _listener: EventListener,
}

impl LeaveGuard {
    /// Asks from now on.
    pub fn new() -> Self {
        let options = EventListenerOptions::enable_prevent_default();
        let listener = EventListener::new_with_options(&window(), "beforeunload", options, |event| {
            event.prevent_default();
            // What older browsers look at; the text itself is never shown.
            let _ = js_sys::Reflect::set(event.unchecked_ref(), &"returnValue".into(), &JsValue::TRUE);
        });
        Self { _listener: listener }
    }
}

impl Default for LeaveGuard {
    fn default() -> Self {
        Self::new()
    }
}

/// Hears when the page is left, for another one or for good.
#[derive(Debug)]
pub struct LeaveListener {
    _listener: EventListener,
}

impl LeaveListener {
    /// Listens until it is dropped.
    pub fn new(on_leave: impl Fn() + 'static) -> Self {
        Self { _listener: EventListener::new(&window(), "pagehide", move |_| on_leave()) }
    }
}
