//! Light or dark: reads the system's preference and the user's choice, and applies it to the document.

use super::browser::{search_param, window};
use crate::state::{Scheme, SchemeChoice};
use gloo_events::EventListener;
use web_sys::MediaQueryList;

/// Storage key of the choice; `boot.js` reads the same one.
const STORAGE_KEY: &str = "snapscope-theme";

/// Listener to the system's preference, active until it is dropped.
pub struct SystemScheme {
    _listener: Option<EventListener>,
}

impl SystemScheme {
    /// Calls `on_change` with each new preference.
    pub fn listen(on_change: impl Fn(Scheme) + 'static) -> Self {
        let listener =
            |query: MediaQueryList| EventListener::new(&query.clone(), "change", move |_| on_change(scheme_of(&query)));
        Self { _listener: dark_query().map(listener) }
    }
}

/// Returns the system's current preference.
pub fn system_scheme() -> Scheme {
    dark_query().as_ref().map_or(Scheme::Light, scheme_of)
}

/// Returns the choice in the page's address (`?theme=dark`), or else the one from the last visit.
pub fn remembered_scheme() -> SchemeChoice {
    let stored = || window().local_storage().ok().flatten()?.get_item(STORAGE_KEY).ok().flatten();
    let name = search_param("theme").or_else(stored);
    name.and_then(|name| SchemeChoice::from_name(&name)).unwrap_or_default()
}

/// Applies a choice to the document and stores it for the next visit.
pub fn apply_scheme(choice: SchemeChoice) {
    let root = window().document().and_then(|document| document.document_element());
    // Both fail only if the browser forbids storage or is shutting down.
    if let Some(root) = root {
        let _ = match choice {
            SchemeChoice::System => root.remove_attribute("data-theme"),
            SchemeChoice::Always(_) => root.set_attribute("data-theme", choice.name()),
        };
    }
    if let Ok(Some(storage)) = window().local_storage() {
        let _ = storage.set_item(STORAGE_KEY, choice.name());
    }
}

fn dark_query() -> Option<MediaQueryList> {
    window().match_media("(prefers-color-scheme: dark)").ok().flatten()
}

fn scheme_of(query: &MediaQueryList) -> Scheme {
    if query.matches() { Scheme::Dark } else { Scheme::Light }
}
