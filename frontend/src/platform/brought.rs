//! A config on its way from the viewer to the page of new jobs, which is another document.

use super::browser::window;
use super::site::site_url;
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, Storage};

/// Where this tab keeps the config: its name in the first line, then its text.
const NAME: &str = "snapscope-config";

/// Files above this are no configs; the page of jobs refuses smaller ones already.
const MOST_BYTES: f64 = 2.0 * 1024.0 * 1024.0;

/// Keeps a config for the page of new jobs, and goes there; without room for it, that page begins with its example.
pub async fn bring_to_jobs(file: &File) {
    let text = if file.size() > MOST_BYTES { None } else { text_of(file).await };
    let line = format!("{}\n", file.name().replace('\n', " "));
    let is_kept = text
        .is_some_and(|text| storage().is_some_and(|storage| storage.set_item(NAME, &format!("{line}{text}")).is_ok()));
    let path = if is_kept { "jobs?new&brought" } else { "jobs?new" };
    // Only an address that can't be parsed is an error.
    let _ = window().location().set_href(&site_url(path));
}

/// The name and the text of the config that was brought to this tab last; reloading the page finds it again.
pub fn brought_config() -> Option<(String, String)> {
    let kept = storage()?.get_item(NAME).ok()??;
    let (name, text) = kept.split_once('\n')?;
    Some((name.to_owned(), text.to_owned()))
}

async fn text_of(file: &File) -> Option<String> {
    JsFuture::from(file.text()).await.ok()?.as_string()
}

fn storage() -> Option<Storage> {
    window().session_storage().ok()?
}
