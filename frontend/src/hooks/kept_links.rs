//! The links that were made here, in the browser's storage.
//!
//! Other tabs change them too, so that each change begins with what is kept at that moment.

use crate::platform::{store, stored};
use crate::state::{Link, Links};

/// Where they are kept.
const NAME: &str = "snapscope-links";

/// Where a list is put that this version can't read, so that what deletes its links is not lost.
const ASIDE: &str = "snapscope-links-unread";

/// The links, and whether the browser's list of them could be read.
pub fn kept() -> (Links, bool) {
    match stored(NAME).as_deref().map(Links::from_text) {
        None => (Links::default(), true),
        Some(Ok(links)) => (links, true),
        Some(Err(_)) => (Links::default(), false),
    }
}

/// Keeps a link; where storage is switched off, only the dialog that made it knows it.
pub(super) fn keep(link: Link) {
    change(|links| links.add(link));
}

/// Forgets a link.
pub fn forget(token: &str) {
    change(|links| links.remove(token));
}

/// Forgets links that have ended.
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
