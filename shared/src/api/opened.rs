//! Defines the list of files that `snapscope open` has for the page.

use serde::{Deserialize, Serialize};

/// Files in the order of the command line: the answer of `GET api/v1/files`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedFiles {
    pub files: Vec<OpenedFile>,
}

/// File whose bytes are at `api/v1/files/N`, where `N` is its position in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedFile {
    /// Name without its folders.
    pub name: String,
    /// Size in bytes, as of the time of the answer.
    pub size_bytes: u64,
}
