//! Checks that reading a view from any address never panics, and that a view is read as it was written.
#![no_main]

#[path = "../../../shared/tests/outside/support/counting.rs"]
mod counting;

use counting::peak_bytes;
use frontend::state::{Address, Links, Session, ViewState, cuts_text};
use libfuzzer_sys::fuzz_target;

/// Maximum memory per byte of a text, in bytes; a field of two characters becomes two strings in a tree.
const MOST_MEMORY_PER_BYTE: u64 = 200;

/// Maximum memory in addition to that, in bytes.
const MOST_MEMORY_APART: u64 = 1 << 16;

fuzz_target!(|text: &str| {
    let ((), peak) = peak_bytes(|| view(text));
    let most = MOST_MEMORY_APART + MOST_MEMORY_PER_BYTE * text.len() as u64;
    assert!(peak <= most, "{} bytes took {peak} bytes, more than {most}", text.len());
    cuts_text(text);
    kept(text);
    Address::of(text, |_| text.split(',').map(str::to_owned).collect(), false);
});

fn view(text: &str) {
    if let Ok(view) = ViewState::from_text(text) {
        let written = view.to_text();
        let again = ViewState::from_text(&written);
        assert_eq!(again.as_ref().map(ViewState::to_text), Ok(written));
        assert_eq!(again, Ok(view));
    }
}

/// Checks the links and open files that a browser stores.
fn kept(text: &str) {
    if let Ok(links) = Links::from_text(text) {
        assert_eq!(Links::from_text(&links.to_text()), Ok(links));
    }
    if let Some((session, written)) =
        Session::from_text(text).and_then(|session| Some((session.clone(), session.to_text()?)))
    {
        assert_eq!(Session::from_text(&written), Some(session));
    }
}
