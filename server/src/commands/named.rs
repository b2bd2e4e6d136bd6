//! Replaces folders by their files.

use std::fs;
use std::path::{Path, PathBuf};

use shared::base::file_names::number_order;

use crate::Failure;

/// File to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) path: PathBuf,
    /// True if a folder was given, which may have any other files too.
    pub(super) is_of_folder: bool,
}

/// Returns the files in the order of the arguments, with those of a folder in the order of their names.
pub(super) fn files(paths: &[PathBuf]) -> Result<Vec<Named>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => files.extend(of_folder(path)?.into_iter().map(|path| Named { path, is_of_folder: true })),
            false => files.push(Named { path: path.clone(), is_of_folder: false }),
        }
    }
    Ok(files)
}

fn of_folder(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| Failure::reading(folder, &error, "folder"))?;
    let is_hidden = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.is_file() && !is_hidden(path)).collect();
    files.sort_by_cached_key(|path| number_order(&name_of(path)));
    match files.is_empty() {
        true => Err(Failure::new(format!("{}: the folder has no files", folder.display()), "choose another folder")),
        false => Ok(files),
    }
}

/// Returns the name of a file or folder without those above it; empty without one.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_its_files_in_the_order_of_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["10.pickle", "2.pickle", ".hidden", "a.log", "host.csv"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::create_dir(folder.path().join("sub")).unwrap();
        let found = files(&[folder.path().to_owned(), PathBuf::from("x")]).unwrap();
        let names: Vec<_> = found.iter().map(|file| name_of(&file.path)).collect();
        assert_eq!(names, ["2.pickle", "10.pickle", "a.log", "host.csv", "x"]);
        assert!(found[0].is_of_folder && !found[4].is_of_folder);
        let empty = tempfile::tempdir().unwrap();
        assert!(files(&[empty.path().to_owned()]).unwrap_err().message.ends_with("the folder has no files"));
    }
}
