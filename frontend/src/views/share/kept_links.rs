//! Share links that were created in this browser, in its local storage.
//!
//! Other tabs change the list too, so each change starts from what is stored at that moment.

use crate::platform::{store, stored};
use crate::state::{Link, Links};

/// Storage key of the list.
const NAME: &str = "snapscope-links";

/// Storage key for a list that this version cannot read, so that its deletion tokens are not lost.
const ASIDE: &str = "snapscope-links-unread";

/// Returns the links, and whether the stored list could be read.
pub fn kept() -> (Links, bool) {
    match stored(NAME).as_deref().map(Links::from_text) {
        None => (Links::default(), true),
        Some(Ok(links)) => (links, true),
        Some(Err(_)) => (Links::default(), false),
    }
}

/// Stores a link; if storage is disabled, only the dialog that created the link knows it.
pub(super) fn keep(link: Link) {
    change(|links| links.add(link));
}

/// Removes a link from the list.
pub fn forget(token: &str) {
    change(|links| links.remove(token));
}

/// Removes expired links from the list.
pub fn forget_ended(now_ms: i64) {
    if kept().0.remove_ended(now_ms) > 0 {
        change(|links| {
            links.remove_ended(now_ms);
        });
    }
}

fn change(act: impl FnOnce(&mut Links)) {
    let (mut links, is_readable) = kept();
    if let (false, Some(text)) = (is_readable, stored(NAME)) {
        store(ASIDE, &text);
    }
    act(&mut links);
    store(NAME, &links.to_text());
}
