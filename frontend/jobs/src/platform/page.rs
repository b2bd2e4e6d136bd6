//! The address, the clock, and files as text.

use frontend::platform::site_url;
use js_sys::{Date, Math};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::File;

/// The largest file that is read as a config: the checks refuse smaller ones already.
const MOST_BYTES: f64 = 4.0 * 1024.0 * 1024.0;

/// The path of the page's address.
pub(crate) fn page_path() -> String {
    web_sys::window().and_then(|window| window.location().pathname().ok()).unwrap_or_default()
}

/// Whether the page's address has parameters, and which: text after the `?`.
pub(crate) fn search_words() -> String {
    let search = web_sys::window().and_then(|window| window.location().search().ok()).unwrap_or_default();
    search.trim_start_matches('?').to_owned()
}

/// Leaves for another page of this site, by its path from the top.
pub(crate) fn go_to(path: &str) {
    if let Some(window) = web_sys::window() {
        // Only an address that can't be parsed is an error.
        let _ = window.location().set_href(&site_url(path));
    }
}

/// Leaves for another page of this site in place of this one, which is no more: the way back does not lead to it.
pub(crate) fn replace_by(path: &str) {
    if let Some(window) = web_sys::window() {
        // Only an address that can't be parsed is an error.
        let _ = window.location().replace(&site_url(path));
    }
}

/// Milliseconds since 1970.
pub(crate) fn clock_ms() -> f64 {
    Date::now()
}

/// A moment as this person's place writes it.
pub(crate) fn local_time(moment_ms: i64) -> String {
    let date = Date::new(&JsValue::from_f64(moment_ms as f64));
    String::from(date.to_locale_string("default", &JsValue::UNDEFINED))
}

/// A text that no other visit makes: it keeps a request that is sent twice from being two jobs.
pub(crate) fn random_key() -> String {
    let part = || (Math::random() * 4_294_967_296.0) as u32;
    format!("{:08x}{:08x}{:08x}", part(), part(), Date::now() as u64 as u32)
}

/// The text of a file.
///
/// # Errors
/// It is too large for a config, or can't be read: a sentence.
pub(crate) async fn read_text(file: &File) -> Result<String, String> {
    if file.size() > MOST_BYTES {
        return Err(format!("{} is larger than any config.", file.name()));
    }
    let text = JsFuture::from(file.text()).await.map_err(|_| format!("{} can't be read.", file.name()))?;
    Ok(text.as_string().unwrap_or_default())
}
