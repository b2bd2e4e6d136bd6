//! Passes a config from the viewer to the page for new jobs, which is another document.

use super::browser::window;
use super::site::site_url;
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, Storage};

/// Session storage key of the config; the stored text has its name in the first line.
const NAME: &str = "snapscope-config";

/// Size limit for a config that is passed on; the job pages already refuse smaller ones.
const MOST_BYTES: f64 = 2.0 * 1024.0 * 1024.0;

/// Stores a config for the page for new jobs and goes there; if it cannot be stored, that page shows its example.
pub async fn bring_to_jobs(file: &File) {
    let text = if file.size() > MOST_BYTES { None } else { text_of(file).await };
    let line = format!("{}\n", file.name().replace('\n', " "));
    let is_kept = text
        .is_some_and(|text| storage().is_some_and(|storage| storage.set_item(NAME, &format!("{line}{text}")).is_ok()));
    let path = if is_kept { "jobs?new&brought" } else { "jobs?new" };
    // Only an address that can't be parsed is an error.
    let _ = window().location().set_href(&site_url(path));
}

/// Returns the name and text of the config that was last passed on in this tab, also after a reload.
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
