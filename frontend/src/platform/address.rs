//! Reads the page's address, and reads and writes the browser's history.

use super::browser::window;
use super::site::site_url;
use gloo_events::EventListener;
use wasm_bindgen::JsValue;
use web_sys::{Url, UrlSearchParams};

/// Returns the path of the page below the site's top, such as `s/abc`.
pub fn page_path() -> String {
    let path = window().location().pathname().unwrap_or_default();
    let top = Url::new(&site_url("")).map(|url| url.pathname()).unwrap_or_default();
    path.strip_prefix(&top).unwrap_or_default().to_owned()
}

/// Returns all values of a parameter of the page's address.
pub fn search_params(name: &str) -> Vec<String> {
    let search = window().location().search().unwrap_or_default();
    let values = UrlSearchParams::new_with_str(&search).map(|params| params.get_all(name));
    values.map(|values| values.iter().filter_map(|value| value.as_string()).collect()).unwrap_or_default()
}

/// Returns the part of the page's address after `#`; `None` if it is missing or empty.
pub fn fragment() -> Option<String> {
    let hash = window().location().hash().ok()?;
    hash.strip_prefix('#').filter(|fragment| !fragment.is_empty()).map(str::to_owned)
}

/// Returns the path and the parameters of the page's address.
pub fn page_address() -> String {
    let location = window().location();
    location.pathname().unwrap_or_default() + &location.search().unwrap_or_default()
}

/// Returns the name that [`put_entry`] gave the current history entry; `None` for an entry that it did not make.
pub fn entry_name() -> Option<String> {
    window().history().ok()?.state().ok()?.as_string()
}

/// Listener for changes of the current history entry, by Back, Forward or an edited address.
#[derive(Debug)]
pub struct HistoryListener {
    _listener: EventListener,
}

impl HistoryListener {
    /// Listens until it is dropped.
    pub fn new(on_change: impl Fn() + 'static) -> Self {
        Self { _listener: EventListener::new(&window(), "popstate", move |_| on_change()) }
    }
}

/// Sets the name and the address fragment of the current history entry, or adds a new entry with them.
pub fn put_entry(is_new: bool, name: &str, fragment: Option<&str>) {
    let page = page_address();
    let address = fragment.map_or_else(|| page.clone(), |fragment| format!("{page}#{fragment}"));
    let Ok(history) = window().history() else { return };
    // Browsers refuse this to pages that do it too often; the next change brings the address up to date.
    let _ = match is_new {
        true => history.push_state_with_url(&JsValue::from_str(name), "", Some(&address)),
        false => history.replace_state_with_url(&JsValue::from_str(name), "", Some(&address)),
    };
}
