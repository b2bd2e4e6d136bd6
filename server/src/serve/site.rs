//! Holds the built page in memory.

use std::collections::HashMap;

use actix_web::web::Bytes;

use crate::built_pages::BuiltPages;
use crate::failure::Failure;
use crate::serve::asset_file::{Asset, CompressedCopy, Encoding};
use crate::serve::document::Document;

/// Path of the viewer's document.
const INDEX: &str = "/index.html";

/// All files of the page by request path.
///
/// Invariant: requests can reach only files in this table, so no path leads out of the folder.
pub struct Site {
    assets: HashMap<String, Asset>,
    /// Top-level documents prepared for nested addresses, by request path.
    documents: HashMap<String, Document>,
}

impl Site {
    /// Reads the built pages, and marks their documents with the kind of server.
    pub fn load(pages: &BuiltPages, mark: Mark) -> Result<Self, Failure> {
        let mut files = pages.read_all().map_err(|error| {
            Failure::new(
                format!("the web pages in {pages} cannot be read: {error}"),
                "run `./dev build` again, and check the permissions of that folder",
            )
        })?;
        let mut assets = collect(&files);
        for (path, document) in files.iter_mut().filter(|(path, _)| is_document(path)) {
            let told = mark.told(&String::from_utf8_lossy(document));
            *document = told.clone().into();
            assets.insert(path.clone(), Asset::made(path, told));
        }
        Ok(Self { assets, documents: documents(&files) })
    }

    pub(crate) fn find(&self, path: &str) -> Option<&Asset> {
        self.assets.get(if path == "/" { INDEX } else { path })
    }

    /// Returns the document at a path such as `/index.html`, prepared for nested addresses.
    pub(crate) fn document(&self, path: &str) -> Option<&Document> {
        self.documents.get(path)
    }
}

/// Combines each file with its compressed copies.
fn collect(files: &HashMap<String, Bytes>) -> HashMap<String, Asset> {
    let is_copy = |path: &str| {
        Encoding::ALL
            .iter()
            .any(|encoding| path.strip_suffix(encoding.suffix()).is_some_and(|plain| files.contains_key(plain)))
    };
    let copies = |path: &str| {
        let copy = |encoding: Encoding| {
            let bytes = files.get(&format!("{path}{}", encoding.suffix()))?.clone();
            Some(CompressedCopy { encoding, bytes })
        };
        Encoding::ALL.into_iter().filter_map(copy).collect()
    };
    files
        .iter()
        .filter(|(path, _)| !is_copy(path))
        .map(|(path, plain)| (path.clone(), Asset::read(path, plain, copies(path))))
        .collect()
}

/// Prepares the top-level documents for nested addresses.
fn documents(files: &HashMap<String, Bytes>) -> HashMap<String, Document> {
    let document = |html: &Bytes| Document::new(&String::from_utf8_lossy(html));
    files.iter().filter(|(path, _)| is_document(path)).map(|(path, html)| (path.clone(), document(html))).collect()
}

fn is_document(path: &str) -> bool {
    path.ends_with(".html") && path.rfind('/') == Some(0)
}

/// Mark in a document that tells the page what serves it; the same folder also works without a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// `snapscope serve`, which shares snapshots and records jobs.
    Server,
    /// `snapscope open`, which has files for the page.
    Files,
}

impl Mark {
    fn told(self, html: &str) -> String {
        let attribute = match self {
            Self::Server => "data-server",
            Self::Files => "data-files",
        };
        html.replacen("<html ", &format!("<html {attribute}=\"\" "), 1)
    }
}
