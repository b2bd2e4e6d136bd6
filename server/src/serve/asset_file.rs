//! Holds one file of the page in memory, with its compressed copies.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;

use actix_web::web::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use crate::hex::hex;

/// Folder of files whose path changes with their content.
const ASSETS: &str = "/assets/";

/// `Cache-Control` of paths with changing content: the browser revalidates each time and usually gets 304.
const REVALIDATE: &str = "no-cache";

/// `Cache-Control` of paths that change with their content.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// One file with its compressed copies.
pub(crate) struct Asset {
    /// Hash of the uncompressed bytes.
    pub(crate) hash: String,
    pub(crate) content_type: &'static str,
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
    pub(super) const ALL: [Self; 2] = [Self::Brotli, Self::Gzip];

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

impl Asset {
    /// Makes an asset from bytes that are not of the built page; its name determines the content type.
    pub(super) fn made(name: &str, bytes: impl Into<Bytes>) -> Self {
        let plain = bytes.into();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let packed = encoder.write_all(&plain).and_then(|()| encoder.finish()).expect("memory takes it");
        Self::read(name, &plain, vec![CompressedCopy { encoding: Encoding::Gzip, bytes: packed.into() }])
    }

    /// Makes an asset from a file of the built page and its compressed copies, smallest first; the path determines the
    /// content type and how long browsers keep the file.
    pub(super) fn read(path: &str, plain: &Bytes, copies: Vec<CompressedCopy>) -> Self {
        Self {
            hash: hex(&Sha256::digest(plain)[..12]),
            content_type: content_type(path),
            cache_control: if path.starts_with(ASSETS) { FOR_EVER } else { REVALIDATE },
            plain: plain.clone(),
            copies,
        }
    }
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
        Some("py" | "txt") => "text/plain; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("webmanifest") => "application/manifest+json",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
