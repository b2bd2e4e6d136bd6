//! Holds the files of Swagger UI, which shows the document of the API in a browser.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use utoipa_swagger_ui::Config;

use crate::serve::asset_file::Asset;

/// Name of the page among the files.
pub(super) const PAGE: &str = "index.html";

/// Other files that the page loads.
const LOADED: [&str; 7] = [
    "favicon-16x16.png",
    "favicon-32x32.png",
    "index.css",
    "swagger-initializer.js",
    "swagger-ui-bundle.js",
    "swagger-ui-standalone-preset.js",
    "swagger-ui.css",
];

/// Files by their names.
pub(super) static FILES: LazyLock<BTreeMap<&'static str, Asset>> = LazyLock::new(|| {
    let config = Arc::new(Config::from("/api/v1/openapi.json").use_base_layout());
    let made = |name| {
        let file = utoipa_swagger_ui::serve(name, Arc::clone(&config)).ok().flatten().expect("a file of Swagger UI");
        let bytes = if name == PAGE { of_this_server(&file.bytes) } else { file.bytes.into_owned() };
        (name, Asset::made(name, bytes))
    };
    LOADED.into_iter().chain([PAGE]).map(made).collect()
});

/// Gives the page a title, and links that work without a slash at the end of its path.
fn of_this_server(page: &[u8]) -> Vec<u8> {
    let page = String::from_utf8_lossy(page).replace("<title>Swagger UI</title>", "<title>API – Snapscope</title>");
    let page = page.replace("=\"index.css\"", "=\"./index.css\"");
    page.replace("=\"./", "=\"/api/v1/docs/").into_bytes()
}
