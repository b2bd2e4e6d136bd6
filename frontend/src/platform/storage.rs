//! Values that the browser stores for the next visit, if its storage is enabled.

use super::browser::window;
use web_sys::Storage;

/// Returns the stored text of a name; `None` if there is none or storage is disabled.
pub fn stored(name: &str) -> Option<String> {
    storage()?.get_item(name).ok()?
}

/// Stores a text under a name, and returns whether that worked.
pub fn store(name: &str, text: &str) -> bool {
    storage().is_some_and(|storage| storage.set_item(name, text).is_ok())
}

fn storage() -> Option<Storage> {
    window().local_storage().ok()?
}
