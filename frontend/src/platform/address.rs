//! Addresses of the pages and their files, the page's own address, and the browser's history.

use super::browser::{element, root, window};
use gloo_events::EventListener;
use std::cell::RefCell;
use wasm_bindgen::JsValue;
use web_sys::{Element, Url, UrlSearchParams};

/// Returns the path of the page below the site's top, such as `s/abc`.
pub fn page_path() -> String {
    let path = window().location().pathname().unwrap_or_default();
    let top = Url::new(&site_url("")).map(|url| url.pathname()).unwrap_or_default();
    path.strip_prefix(&top).unwrap_or_default().to_owned()
}

/// Returns all values of a parameter of the page's address.
pub fn search_params(name: &str) -> Vec<String> {
    let Ok(params) = UrlSearchParams::new_with_str(&query()) else { return Vec::new() };
    params.get_all(name).iter().filter_map(|value| value.as_string()).collect()
}

/// Returns a parameter of the page's address; it is empty for a parameter without a value.
pub fn search_param(name: &str) -> Option<String> {
    search_params(name).into_iter().next()
}

/// Returns the parameters of the page's address, beginning with `?`; empty without any.
pub fn query() -> String {
    window().location().search().unwrap_or_default()
}

/// Returns the part of the page's address after `#`; `None` if it is missing or empty.
pub fn fragment() -> Option<String> {
    let hash = window().location().hash().ok()?;
    hash.strip_prefix('#').filter(|fragment| !fragment.is_empty()).map(str::to_owned)
}

/// Returns the path and the parameters of the page's address.
pub fn page_address() -> String {
    window().location().pathname().unwrap_or_default() + &query()
}

/// Returns the name that [`put_entry`] gave the current history entry; `None` for an entry that it did not make.
pub fn entry_name() -> Option<String> {
    window().history().ok()?.state().ok()?.as_string()
}

/// Listens for changes of the current history entry, by Back, Forward or an edited address.
pub fn on_history(call: impl Fn() + 'static) -> EventListener {
    EventListener::new(&window(), "popstate", move |_| call())
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

thread_local! {
    /// URL of the folder of scripts and styles.
    static ASSETS: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Stores the address of the page's files, and returns the element `app`, emptied to be filled.
///
/// # Panics
/// Panics if the document has no such element.
pub fn start(assets: &str) -> Element {
    ASSETS.with(|place| assets.clone_into(&mut place.borrow_mut()));
    let root = element("app");
    // Removes the text that is shown while the module loads.
    root.set_inner_html("");
    root
}

/// Returns true if a Snapscope server sent the page, so that sharing and recording are available.
///
/// The server marks the documents that it sends; a static host does not.
pub fn has_server() -> bool {
    is_marked("data-server")
}

/// Returns true if `snapscope open` sent the page, which has files for it.
pub fn has_files() -> bool {
    is_marked("data-files")
}

fn is_marked(attribute: &str) -> bool {
    root().is_some_and(|root| root.has_attribute(attribute))
}

/// Returns the URL of a script or style of this build.
pub fn asset_url(name: &str) -> String {
    ASSETS.with(|assets| Url::new_with_base(name, &assets.borrow())).map_or_else(|_| name.to_owned(), |url| url.href())
}

/// Returns the URL of a path below the site's top, such as `jobs` or `api/v1/limits`.
///
/// The site may lie in a folder of its host, and a page below another one, so the top is derived from the address of
/// the page's files.
pub fn site_url(path: &str) -> String {
    // Scripts are in `assets/HASH/`.
    asset_url(&format!("../../{path}"))
}
