//! Addresses of the pages and their files.

use super::browser::{element, window};
use std::cell::RefCell;
use web_sys::{Element, Url};

thread_local! {
    /// URL of the folder of scripts and styles.
    static ASSETS: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Stores the address of the page's files, and returns the element `app`, emptied to be filled.
///
/// # Panics
/// Panics if the document has no such element.
pub fn start(assets: &str) -> Element {
    ASSETS.with(|place| assets.clone_into(&mut place.borrow_mut()));
    let root = element("app");
    // Removes the text that is shown while the module loads.
    root.set_inner_html("");
    root
}

/// Returns true if a Snapscope server sent the page, so that sharing and recording are available.
///
/// The server marks the documents that it sends; a static host does not.
pub fn has_server() -> bool {
    is_marked("data-server")
}

/// Returns true if `snapscope open` sent the page, which has files for it.
pub fn has_files() -> bool {
    is_marked("data-files")
}

fn is_marked(attribute: &str) -> bool {
    let root = window().document().and_then(|document| document.document_element());
    root.is_some_and(|root| root.has_attribute(attribute))
}

/// Returns the URL of a script or style of this build.
pub fn asset_url(name: &str) -> String {
    join(name)
}

/// Returns the URL of a path below the site's top, such as `jobs` or `api/v1/limits`.
///
/// The site may lie in a folder of its host, and a page below another one, so the top is derived from the address of
/// the page's files.
pub fn site_url(path: &str) -> String {
    // Scripts are in `assets/HASH/`.
    join(&format!("../../{path}"))
}

fn join(path: &str) -> String {
    ASSETS.with(|assets| Url::new_with_base(path, &assets.borrow())).map_or_else(|_| path.to_owned(), |url| url.href())
}
