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

/// Hears when somebody puts something else behind `#`; the page's own changes are not heard.
#[derive(Debug)]
pub struct FragmentListener {
    _listener: EventListener,
}

impl FragmentListener {
    /// Listens until it is dropped.
    pub fn new(on_change: impl Fn(Option<String>) + 'static) -> Self {
        Self { _listener: EventListener::new(&window(), "hashchange", move |_| on_change(fragment())) }
    }
}

/// Puts something else behind `#`, without a new entry in the history.
pub fn replace_fragment(fragment: Option<&str>) {
    let location = window().location();
    let (path, search) = (location.pathname().unwrap_or_default(), location.search().unwrap_or_default());
    let address = match fragment {
        Some(fragment) => format!("{path}{search}#{fragment}"),
        None => format!("{path}{search}"),
    };
    if let Ok(history) = window().history() {
        // Browsers refuse it to pages that do it too often: the next change brings the address up to date.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&address));
    }
}
