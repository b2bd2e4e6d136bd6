//! Options for a copy that is shown to others.

/// Choice of what is taken out of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SanitizeOptions {
    /// Shortens paths to their part inside the package or project.
    pub cut_paths: bool,
    /// Removes names found in paths and annotations wherever they occur, and hosts, addresses and keys.
    pub remove_names: bool,
    /// Further names to remove.
    pub names: Vec<String>,
    /// Packages whose frames are kept, named as in [`SanitizeReport::packages`](super::SanitizeReport::packages);
    /// `None` keeps all.
    pub packages: Option<Vec<String>>,
    /// Leaves out the users' texts on events (`user_metadata`), except for what our recorder says about purposes.
    pub drop_metadata: bool,
    /// Leaves out the annotated spans.
    pub drop_annotations: bool,
}

impl Default for SanitizeOptions {
    /// Keeps everything that explains the memory, and removes what names a person.
    fn default() -> Self {
        Self {
            cut_paths: true,
            remove_names: true,
            names: Vec::new(),
            packages: None,
            drop_metadata: true,
            drop_annotations: false,
        }
    }
}
