//! Address, clock, random keys, and files as text.

use frontend::platform::site_url;
use js_sys::{Date, Math};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::File;

/// Size limit for a file that is read as a config; the checks already refuse smaller ones.
const MOST_BYTES: f64 = 4.0 * 1024.0 * 1024.0;

/// Returns the path of the page's address.
pub(crate) fn page_path() -> String {
    web_sys::window().and_then(|window| window.location().pathname().ok()).unwrap_or_default()
}

/// Returns the query string of the page's address, without the `?`.
pub(crate) fn search_words() -> String {
    let search = web_sys::window().and_then(|window| window.location().search().ok()).unwrap_or_default();
    search.trim_start_matches('?').to_owned()
}

/// Goes to another page of this site, given by its path from the site's top.
pub(crate) fn go_to(path: &str) {
    // Only an address that can't be parsed is an error.
    let _ = web_sys::window().map(|window| window.location().set_href(&site_url(path)));
}

/// Goes to another page of this site and drops the current one from the browser's history, because it no longer exists.
pub(crate) fn replace_by(path: &str) {
    // Only an address that can't be parsed is an error.
    let _ = web_sys::window().map(|window| window.location().replace(&site_url(path)));
}

/// Returns the milliseconds since 1970.
pub(crate) fn clock_ms() -> f64 {
    Date::now()
}

/// Formats a time in the user's locale; `moment_ms` counts milliseconds since 1970.
pub(crate) fn local_time(moment_ms: i64) -> String {
    let date = Date::new(&JsValue::from_f64(moment_ms as f64));
    String::from(date.to_locale_string("default", &JsValue::UNDEFINED))
}

/// Returns a random idempotency key, so that a request that is sent twice creates one job.
pub(crate) fn random_key() -> String {
    let part = || (Math::random() * 4_294_967_296.0) as u32;
    format!("{:08x}{:08x}{:08x}", part(), part(), Date::now() as u64 as u32)
}

/// Reads a file as text.
///
/// # Errors
/// Returns a sentence if the file is too large for a config or can't be read.
pub(crate) async fn read_text(file: &File) -> Result<String, String> {
    if file.size() > MOST_BYTES {
        return Err(format!("{} is too large for a config.", file.name()));
    }
    let text = JsFuture::from(file.text()).await.map_err(|_| format!("{} can't be read.", file.name()))?;
    Ok(text.as_string().unwrap_or_default())
}
