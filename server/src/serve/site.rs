//! Holds the built page in memory.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use actix_web::web::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use crate::failure::Failure;
use crate::hex::hex;
use crate::serve::document::Document;

/// Path of the viewer's document.
const INDEX: &str = "/index.html";

/// Folder of files whose path changes with their content.
const ASSETS: &str = "/assets/";

/// `Cache-Control` of paths with changing content: the browser revalidates each time and usually gets 304.
const REVALIDATE: &str = "no-cache";

/// `Cache-Control` of paths that change with their content.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// All files of the page by request path.
///
/// Invariant: requests can reach only files in this table, so no path leads out of the folder.
pub struct Site {
    assets: HashMap<String, Asset>,
    /// Top-level documents prepared for nested addresses, by request path.
    documents: HashMap<String, Document>,
}

/// One file with its compressed copies.
pub(crate) struct Asset {
    /// Hash of the uncompressed bytes.
    pub(crate) hash: String,
    /// Value of `Content-Type`.
    pub(crate) content_type: &'static str,
    /// Value of `Cache-Control`.
    pub(crate) cache_control: &'static str,
    /// Uncompressed content.
    pub(crate) plain: Bytes,
    /// Compressed copies, smallest first.
    pub(crate) copies: Vec<CompressedCopy>,
}

pub(crate) struct CompressedCopy {
    pub(crate) encoding: Encoding,
    pub(crate) bytes: Bytes,
}

/// Compression format of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Brotli,
    Gzip,
}

impl Encoding {
    /// All formats, smallest output first.
    const ALL: [Self; 2] = [Self::Brotli, Self::Gzip];

    /// Returns the name in HTTP headers.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// Returns the suffix that a copy's file name adds to that of the plain file.
    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Gzip => ".gz",
        }
    }
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

impl Asset {
    /// Makes an asset from generated text; its name determines the content type.
    pub(super) fn made(name: &str, text: String) -> Self {
        let copy = CompressedCopy { encoding: Encoding::Gzip, bytes: gzip(text.as_bytes()) };
        Self {
            hash: short_hash(text.as_bytes()),
            content_type: content_type(name),
            cache_control: REVALIDATE,
            plain: text.into(),
            copies: vec![copy],
        }
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
        .map(|(path, plain)| {
            let asset = Asset {
                hash: short_hash(plain),
                content_type: content_type(path),
                cache_control: if path.starts_with(ASSETS) { FOR_EVER } else { REVALIDATE },
                plain: plain.clone(),
                copies: copies(path),
            };
            (path.clone(), asset)
        })
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

fn gzip(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes it").into()
}

fn short_hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes)[..12])
}

fn content_type(path: &str) -> &'static str {
    match Path::new(path).extension().and_then(OsStr::to_str) {
        Some("css") => "text/css; charset=utf-8",
        Some("gz") => "application/gzip",
        Some("html") => "text/html; charset=utf-8",
        Some("ico") => "image/x-icon",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("md") => "text/markdown; charset=utf-8",
        Some("png") => "image/png",
        Some("svg") => "image/svg+xml",
        Some("toml") => "application/toml",
        Some("txt") => "text/plain; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("webmanifest") => "application/manifest+json",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
