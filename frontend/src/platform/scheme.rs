//! Light or dark: reads the system's preference and the user's choice, and applies it to the document.

use super::address::search_param;
use super::browser::{media, root};
use super::session::{store, stored};
use crate::state::{Scheme, SchemeChoice};
use gloo_events::EventListener;
use web_sys::MediaQueryList;

/// Storage key of the choice; `boot.js` reads the same one.
const STORAGE_KEY: &str = "snapscope-theme";

/// Calls `on_change` with each new preference of the system.
pub fn on_system_scheme(on_change: impl Fn(Scheme) + 'static) -> Option<EventListener> {
    dark_query().map(|query| EventListener::new(&query.clone(), "change", move |_| on_change(scheme_of(&query))))
}

pub fn system_scheme() -> Scheme {
    dark_query().as_ref().map_or(Scheme::Light, scheme_of)
}

/// Returns the choice in the page's address (`?theme=dark`), or else the one from the last visit.
pub fn remembered_scheme() -> SchemeChoice {
    let name = search_param("theme").or_else(|| stored(STORAGE_KEY));
    name.and_then(|name| SchemeChoice::from_name(&name)).unwrap_or_default()
}

/// Applies a choice to the document and stores it for the next visit.
pub fn apply_scheme(choice: SchemeChoice) {
    if let Some(root) = root() {
        // It fails only if the browser is shutting down.
        let _ = match choice {
            SchemeChoice::System => root.remove_attribute("data-theme"),
            SchemeChoice::Always(_) => root.set_attribute("data-theme", choice.name()),
        };
    }
    store(STORAGE_KEY, choice.name());
}

fn dark_query() -> Option<MediaQueryList> {
    media("(prefers-color-scheme: dark)")
}

fn scheme_of(query: &MediaQueryList) -> Scheme {
    if query.matches() { Scheme::Dark } else { Scheme::Light }
}
