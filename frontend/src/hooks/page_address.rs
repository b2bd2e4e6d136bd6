//! Meaning of the address with which the page was opened.

use crate::platform::{has_files, page_path, search_params};
use crate::state::Address;

/// Parses the page's address.
pub(super) fn address() -> Address {
    Address::of(&page_path(), search_params, has_files())
}

/// Returns true if the address names nothing, so that files are opened by hand.
pub(super) fn is_plain_page() -> bool {
    address() == Address::Plain
}
