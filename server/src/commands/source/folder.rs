//! Finds and reads source files in the folder that the user names.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use shared::source::{Match, SourceText, match_files};

use crate::Failure;

/// Most files and folders that are looked at.
const MOST_ENTRIES: usize = 2_000_000;

/// Folder with the files that have the names of some source files.
pub(super) struct SourceFolder {
    root: PathBuf,
    /// Paths below the folder, in ascending order.
    files: Vec<String>,
}

/// Source file as stacks name it, and what the folder has of it.
pub(super) struct Located {
    /// Path below the folder; `None` if no file or more than one could be meant.
    pub(super) file: Option<String>,
    /// Reason why it is none.
    pub(super) note: Option<String>,
}

impl SourceFolder {
    /// Looks through a folder for files with the names of the paths; it follows no links and skips hidden folders.
    pub(super) fn open(folder: &Path, paths: &[&str]) -> Result<Self, Failure> {
        let unreadable = |error: io::Error| {
            Failure::new(format!("--source {}: {error}", folder.display()), "pass the folder with the source files")
        };
        let root = folder.canonicalize().map_err(unreadable)?;
        let name = |path: &&str| path.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
        let names: HashSet<String> = paths.iter().map(name).collect();
        let mut files = Vec::new();
        let mut ahead = vec![root.clone()];
        let mut entries = 0;
        while let Some(next) = ahead.pop() {
            let listed = match fs::read_dir(&next) {
                Ok(listed) => listed,
                Err(error) if next == root => return Err(unreadable(error)),
                // A folder that the user may not read has no sources of the user's.
                Err(_) => continue,
            };
            for entry in listed.flatten() {
                entries += 1;
                if entries > MOST_ENTRIES {
                    return Err(too_many(folder));
                }
                let file_name = entry.file_name().to_string_lossy().into_owned();
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() && !file_name.starts_with('.') {
                    ahead.push(entry.path());
                } else if kind.is_file() && names.contains(&file_name.to_lowercase()) {
                    files.push(below(&root, &entry.path()));
                }
            }
        }
        files.sort();
        Ok(Self { root, files })
    }

    /// Finds the file of each path.
    pub(super) fn locate(&self, paths: &[&str]) -> Vec<Located> {
        let files: Vec<&str> = self.files.iter().map(String::as_str).collect();
        let located = |found: Match| Located {
            file: if let Match::Found(file) = found { Some(files[file].to_owned()) } else { None },
            note: found.note(paths, &files),
        };
        match_files(paths, &self.root.to_string_lossy(), &files).into_iter().map(located).collect()
    }

    /// Reads a file below the folder.
    ///
    /// # Errors
    ///
    /// Returns the reason for which it is not shown, as the end of a sentence about the file.
    pub(super) fn read(&self, file: &str) -> Result<SourceText, String> {
        use io::Read as _;
        let read = || {
            let mut bytes = Vec::new();
            // One byte more shows that a file is too large.
            fs::File::open(self.root.join(file))?.take(SourceText::MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(|error: io::Error| format!("cannot be read: {error}"))?;
        SourceText::new(&bytes).map_err(|why| why.words().to_owned())
    }
}

fn below(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

fn too_many(folder: &Path) -> Failure {
    Failure::new(
        format!("--source {}: the folder has more than {MOST_ENTRIES} files", folder.display()),
        "pass the folder of the project instead",
    )
}
