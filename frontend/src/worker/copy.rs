//! A clean copy of the file, to be shown to others: what is asked for, and what it leaves out.

use serde::{Deserialize, Serialize};

/// What is taken out of a copy: `shared::export::SanitizeOptions` as it travels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyOptions {
    /// Cut paths to the package or project.
    pub cut_paths: bool,
    /// Take out names that paths tell, and hosts, addresses and keys.
    pub remove_names: bool,
    /// Further names to take out.
    pub names: Vec<String>,
    /// Leave out the frames of these packages.
    pub dropped_packages: Vec<String>,
    /// Leave out the users' texts on events.
    pub drop_metadata: bool,
    /// Leave out the annotated spans.
    pub drop_annotations: bool,
}

impl Default for CopyOptions {
    /// What names nobody, and still explains the memory.
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

/// What a copy leaves out, with examples from the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyPreview {
    /// Paths that become shorter.
    pub paths: TextChange,
    /// Texts that lose a name.
    pub texts: TextChange,
    /// The names that are looked for.
    pub names: Vec<String>,
    /// Whose frames there are, the most frequent first.
    pub packages: Vec<PackageRow>,
    /// Distinct texts of users that are left out.
    pub metadata: TextChange,
    /// Annotations that are left out.
    pub annotations: u64,
    /// Entries that no copy has, since this version does not know them.
    pub unknown_keys: u64,
    /// Every distinct text that others will see, what people write first.
    pub remaining: Vec<TextGroup>,
}

/// The distinct texts of one kind in a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextGroup {
    /// What they are, in the singular, such as `own file`.
    pub kind: String,
    /// The texts, in the order of the alphabet.
    pub texts: Vec<String>,
}

/// Texts that become others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextChange {
    /// How many distinct ones.
    pub count: u64,
    /// Some of them, before and after.
    pub examples: Vec<(String, String)>,
}

/// Frames of one package.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageRow {
    /// Its name, or what kind of code it is.
    pub name: String,
    /// Distinct frames.
    pub frames: u64,
}
