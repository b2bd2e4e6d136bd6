//! Where the pages and their files lie.

use super::browser::{element, window};
use std::cell::RefCell;
use web_sys::{Element, Url};

thread_local! {
    /// The address of the folder of scripts and styles.
    static ASSETS: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Remembers where a page's files lie, empties its element `app` and gives it to be filled.
///
/// # Panics
/// If the document has no such element.
pub fn start(assets: &str) -> Element {
    ASSETS.with(|place| assets.clone_into(&mut place.borrow_mut()));
    let root = element("app");
    // The text that stands there while the module loads.
    root.set_inner_html("");
    root
}

/// Whether a server of Snapscope sent the page, which shares copies and makes recordings.
///
/// It says so in the documents that it sends; a folder of plain files has none behind it.
pub fn has_server() -> bool {
    let root = window().document().and_then(|document| document.document_element());
    root.is_some_and(|root| root.has_attribute("data-server"))
}

/// The address of a script or style of this build.
pub fn asset_url(name: &str) -> String {
    join(name)
}

/// The address of something by its path from the top of the site, such as `jobs` or `api/v1/limits`.
///
/// The site may lie in a folder of its host, and a page below another: only where the files lie tells the top.
pub fn site_url(path: &str) -> String {
    // Scripts are in `assets/HASH/`.
    join(&format!("../../{path}"))
}

fn join(path: &str) -> String {
    ASSETS.with(|assets| Url::new_with_base(path, &assets.borrow())).map_or_else(|_| path.to_owned(), |url| url.href())
}
