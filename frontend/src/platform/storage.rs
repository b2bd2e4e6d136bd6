//! What the browser keeps for the next visit, where it keeps anything.

use super::browser::window;
use web_sys::Storage;

/// The text under a name, `None` where there is none or storage is switched off.
pub fn stored(name: &str) -> Option<String> {
    storage()?.get_item(name).ok()?
}

/// Keeps a text under a name, and says whether that worked.
pub fn store(name: &str, text: &str) -> bool {
    storage().is_some_and(|storage| storage.set_item(name, text).is_ok())
}

fn storage() -> Option<Storage> {
    window().local_storage().ok()?
}
