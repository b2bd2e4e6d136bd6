//! The page's own address.

use super::browser::window;
use super::site::site_url;
use gloo_events::EventListener;
use wasm_bindgen::JsValue;
use web_sys::{Url, UrlSearchParams};

/// The path of the page from the top of the site, such as `s/abc`.
pub fn page_path() -> String {
    let path = window().location().pathname().unwrap_or_default();
    let top = Url::new(&site_url("")).map(|url| url.pathname()).unwrap_or_default();
    path.strip_prefix(&top).unwrap_or_default().to_owned()
}

/// All values of a parameter of the page's address.
pub fn search_params(name: &str) -> Vec<String> {
    let search = window().location().search().unwrap_or_default();
    let values = UrlSearchParams::new_with_str(&search).map(|params| params.get_all(name));
    values.map(|values| values.iter().filter_map(|value| value.as_string()).collect()).unwrap_or_default()
}

/// What stands behind `#` in the page's address, `None` where nothing does.
pub fn fragment() -> Option<String> {
    let hash = window().location().hash().ok()?;
    hash.strip_prefix('#').filter(|fragment| !fragment.is_empty()).map(str::to_owned)
}

/// The path and the parameters of the page's address.
pub fn page_address() -> String {
    let location = window().location();
    location.pathname().unwrap_or_default() + &location.search().unwrap_or_default()
}

/// What [`put_entry`] called the entry of the history that is shown, `None` for one that it did not make.
pub fn entry_name() -> Option<String> {
    window().history().ok()?.state().ok()?.as_string()
}

/// Hears when another entry of the history is shown, by Back, by Forward or by somebody who edits the address.
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

/// Puts a name into the entry of the history and something else behind `#`, or makes a new entry.
pub fn put_entry(is_new: bool, name: &str, fragment: Option<&str>) {
    let page = page_address();
    let address = fragment.map_or_else(|| page.clone(), |fragment| format!("{page}#{fragment}"));
    let Ok(history) = window().history() else { return };
    // Browsers refuse it to pages that do it too often: the next change brings the address up to date.
    let _ = match is_new {
        true => history.push_state_with_url(&JsValue::from_str(name), "", Some(&address)),
        false => history.replace_state_with_url(&JsValue::from_str(name), "", Some(&address)),
    };
}
