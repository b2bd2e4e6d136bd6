//! Lays out the virtual GPU: a link to one library for each name that programs ask for.
//!
//! `./dev build` leaves a folder with the links. A wheel cannot hold links, so a program that it installed makes them in
//! the private folder of each run. Copies would not do: the loader would give each of them a GPU of its own.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

pub(crate) const LIBRARY: &str = "libsnapscope_virtual_gpu.so";

const NAMES: &str = include_str!("../virtual-gpu/sonames.txt");

const LISTING: &str = include_str!("../virtual-gpu/nvidia-smi");

/// Returns a folder with all links: `folder` itself if it has them, or else a new one at `place`.
pub(crate) fn with_links(folder: &Path, place: &Path) -> io::Result<PathBuf> {
    let mut names = NAMES.lines();
    if names.clone().any(|name| folder.join(name).exists()) {
        return Ok(folder.to_owned());
    }
    // A link must not depend on the folder in which it lies.
    let library = std::path::absolute(folder.join(LIBRARY))?;
    let place = std::path::absolute(place)?;
    let programs = place.join("bin");
    fs::create_dir_all(&programs)?;
    symlink(&library, place.join(LIBRARY))?;
    names.try_for_each(|name| symlink(&library, place.join(name)))?;
    let listing = programs.join("nvidia-smi");
    fs::write(&listing, LISTING)?;
    fs::set_permissions(&listing, fs::Permissions::from_mode(0o755))?;
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_made_where_they_are_missing() {
        let folder = tempfile::tempdir().unwrap();
        let (library, place) = (folder.path().join("library"), folder.path().join("run/links"));
        fs::create_dir(&library).unwrap();
        fs::write(library.join(LIBRARY), "the library").unwrap();
        let laid = with_links(&library, &place).unwrap();
        assert_eq!(laid, place);
        for name in NAMES.lines().chain([LIBRARY]) {
            assert_eq!(fs::read_to_string(laid.join(name)).unwrap(), "the library", "{name}");
        }
        assert!(laid.join("bin/nvidia-smi").metadata().unwrap().permissions().mode() & 0o100 != 0);
        // The links that were just made are found.
        assert_eq!(with_links(&laid, &folder.path().join("other")).unwrap(), laid);
    }
}
