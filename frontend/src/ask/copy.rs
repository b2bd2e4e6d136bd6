//! Defines the questions for a clean copy for sharing, and the preview of what it leaves out.

use serde::{Deserialize, Serialize};

/// Parts that are removed from a copy; the message form of `shared::export::SanitizeOptions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyOptions {
    /// Shorten paths so that they begin at the package or project.
    pub cut_paths: bool,
    /// Remove names that paths reveal, and hosts, addresses and keys.
    pub remove_names: bool,
    /// Further names to remove.
    pub names: Vec<String>,
    /// Omit the frames of these packages.
    pub dropped_packages: Vec<String>,
    /// Omit the users' texts on events.
    pub drop_metadata: bool,
    /// Omit the annotated spans.
    pub drop_annotations: bool,
}

impl Default for CopyOptions {
    /// Returns options that remove all names of people and machines, but keep what explains the memory.
    fn default() -> Self {
        Self {
            cut_paths: true,
            remove_names: true,
            names: Vec::new(),
            dropped_packages: Vec::new(),
            drop_metadata: true,
            drop_annotations: false,
        }
    }
}

/// Asks for a summary of what a clean copy of the file would leave out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetCopyPreview {
    pub options: CopyOptions,
}

/// Asks for a clean copy of the file, compressed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WriteCopy {
    pub options: CopyOptions,
}

/// Summary of what a copy leaves out, with examples from the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyPreview {
    /// Paths that are shortened.
    pub paths: TextChange,
    /// Texts from which a name is removed.
    pub texts: TextChange,
    /// Names that are searched for.
    pub names: Vec<String>,
    /// Packages of the frames, the most frequent first.
    pub packages: Vec<PackageRow>,
    /// Distinct texts of users that are omitted.
    pub metadata: TextChange,
    /// Number of annotations that are omitted.
    pub annotations: u64,
    /// Number of entries that no copy contains, because this version does not know them.
    pub unknown_keys: u64,
    /// All distinct texts that others will see, those written by people first.
    pub remaining: Vec<TextGroup>,
}

/// Distinct texts of one kind in a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextGroup {
    /// Kind in the singular, such as `project file`.
    pub kind: String,
    /// Texts in alphabetical order.
    pub texts: Vec<String>,
}

/// Texts that a copy changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextChange {
    /// Number of distinct texts.
    pub count: u64,
    /// Examples, each before and after the change.
    pub examples: Vec<(String, String)>,
}

/// Frames of one package.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageRow {
    /// Name of the package, or the kind of code.
    pub name: String,
    /// Number of distinct frames.
    pub frames: u64,
}
