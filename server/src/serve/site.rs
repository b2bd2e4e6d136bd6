//! Holds the built page in memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use actix_web::web::Bytes;

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
    /// Reads a folder that `./dev build` filled.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder or a file in it cannot be read.
    pub fn load(folder: &Path) -> Result<Self, Failure> {
        let mut files = HashMap::new();
        read_into(folder, "/", &mut files).map_err(|error| {
            Failure::new(
                format!("the web pages in {} cannot be read: {error}", folder.display()),
                "run `./dev build` again, and check the permissions of that folder",
            )
        })?;
        let mut assets = collect(&files);
        for (path, document) in files.iter_mut().filter(|(path, _)| is_document(path)) {
            let told = tell_of_server(&String::from_utf8_lossy(document));
            *document = told.clone().into();
            assets.insert(path.clone(), Asset::made(path, told));
        }
        Ok(Self { assets, documents: documents(&files) })
    }

    /// Returns the file at a request path.
    pub(crate) fn find(&self, path: &str) -> Option<&Asset> {
        self.assets.get(if path == "/" { INDEX } else { path })
    }

    /// Returns the document at a path such as `/index.html`, prepared for nested addresses.
    pub(crate) fn document(&self, path: &str) -> Option<&Document> {
        self.documents.get(path)
    }
}

/// Reads all files below a folder, by request path.
fn read_into(folder: &Path, prefix: &str, files: &mut HashMap<String, Bytes>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let target: PathBuf = entry.path();
        if target.is_dir() {
            read_into(&target, &format!("{path}/"), files)?;
        } else {
            files.insert(path, fs::read(target)?.into());
        }
    }
    Ok(())
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

/// Returns true if a path is that of a top-level document.
fn is_document(path: &str) -> bool {
    path.ends_with(".html") && path.rfind('/') == Some(0)
}

/// Marks a document as served by this server; the same folder also works without one, but cannot share then.
fn tell_of_server(html: &str) -> String {
    html.replacen("<html ", "<html data-server=\"\" ", 1)
}
