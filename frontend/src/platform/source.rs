//! Names the place from which a Web Worker reads a file.

use web_sys::File;

/// Source of a file's bytes.
#[derive(Clone, Debug)]
pub enum Source {
    /// File that the user chose.
    File(File),
    /// URL of this site.
    Url(String),
}
