//! Reads the built web pages, from a folder or from inside this program.
//!
//! `./dev wheel` and `./dev dist` name the folder to put inside in `SNAPSCOPE_PAGES` while they compile; without that
//! variable there is none.
//! The page is in memory from the start, so that only uploads and downloads of snapshots access the disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use actix_web::web::Bytes;
use include_dir::{Dir, DirEntry, include_dir};

/// Pages that were built into this program; empty without them.
static INSIDE: Dir<'static> = include_dir!("$SNAPSCOPE_PAGES_INSIDE");

#[derive(Debug, Clone, PartialEq)]
pub enum BuiltPages {
    /// Folder that `./dev build` filled.
    Folder(PathBuf),
    /// Folder inside this program.
    Inside(&'static Dir<'static>),
}

impl BuiltPages {
    /// Returns the pages inside this program; `None` if it was built without them.
    pub fn inside() -> Option<Self> {
        Some(Self::Inside(&INSIDE)).filter(Self::are_there)
    }

    /// Returns true if the place has the page of the viewer.
    pub fn are_there(&self) -> bool {
        match self {
            Self::Folder(folder) => folder.join("index.html").is_file(),
            Self::Inside(folder) => folder.contains("index.html"),
        }
    }

    /// Reads all files, by request path.
    pub(crate) fn read_all(&self) -> io::Result<HashMap<String, Bytes>> {
        let mut files = HashMap::new();
        match self {
            Self::Folder(folder) => read_into(folder, "/", &mut files)?,
            Self::Inside(folder) => take_into(folder, &mut files),
        }
        Ok(files)
    }

    /// Reads one file by its path below the place; `None` if there is no such file.
    pub(crate) fn read(&self, path: &str) -> io::Result<Option<Bytes>> {
        match self {
            Self::Folder(folder) => match fs::read(folder.join(path)) {
                Ok(bytes) => Ok(Some(bytes.into())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error),
            },
            Self::Inside(folder) => Ok(folder.get_file(path).map(|file| Bytes::from_static(file.contents()))),
        }
    }
}

impl fmt::Display for BuiltPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => folder.display().fmt(f),
            Self::Inside(_) => f.write_str("inside this program"),
        }
    }
}

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

fn take_into(folder: &Dir<'static>, files: &mut HashMap<String, Bytes>) {
    for entry in folder.entries() {
        match entry {
            DirEntry::Dir(folder) => take_into(folder, files),
            DirEntry::File(file) => {
                let path = format!("/{}", file.path().display());
                files.insert(path, Bytes::from_static(file.contents()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any folder that is always there takes the part of the pages.
    static HOOKS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/python/hook");

    #[test]
    fn both_places_have_the_same_files() {
        let inside = BuiltPages::Inside(&HOOKS);
        let folder = BuiltPages::Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("python/hook"));
        let files = inside.read_all().unwrap();
        // Python may leave compiled files beside its sources.
        let of_folder = folder.read_all().unwrap();
        assert_eq!(files["/sitecustomize.py"], of_folder["/sitecustomize.py"]);
        for pages in [&inside, &folder] {
            assert_eq!(pages.read("sitecustomize.py").unwrap().unwrap(), files["/sitecustomize.py"]);
            assert_eq!(pages.read("other.py").unwrap(), None);
            assert!(!pages.are_there());
        }
        assert_eq!(inside.to_string(), "inside this program");
    }
}
