//! Writes the Python files that commands put on `PYTHONPATH`.
//!
//! The binary contains the package (`server/python/snapscope/`), the hooks of `run` and `record`, and what starts
//! either (`hook/`), and writes them to a private folder; the hook of `run` uses the package's `SHARED` files.

use std::fs;
use std::io;
use std::path::Path;

/// A file: its name below the folder, and its text.
pub(super) type File = (&'static str, &'static str);

macro_rules! files {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/python/", $folder, $name)))),*]
    };
}
pub(super) use files;

/// Runs at the start of each Python process: it imports the command's `snapscope_begin` and calls `begin(folder)`.
const HOOK: &[File] = files!("hook/": "sitecustomize.py");

/// Files of the package that hooks use as well.
const SHARED: &[File] = files!("snapscope/":
    "exits.py",
    "frames.py",
    "holders.py",
    "hops.py",
    "importing.py",
    "naming.py",
    "notices.py",
    "reading.py",
    "steps.py",
);

/// The Python package, without its pytest plugin in `guard/`, which an installed package brings.
const PACKAGE: &[File] = files!("snapscope/":
    "__init__.py",
    "__main__.py",
    "active.py",
    "binary.py",
    "callbacks.py",
    "cards.py",
    "commit.py",
    "environment.py",
    "exits.py",
    "files.py",
    "frames.py",
    "history.py",
    "holders.py",
    "hops.py",
    "importing.py",
    "marks.py",
    "modules.py",
    "naming.py",
    "notebook.py",
    "notices.py",
    "options.py",
    "process.py",
    "reading.py",
    "recorder.py",
    "recording.py",
    "steps.py",
    "trackers.py",
    "triggers.py",
    "py.typed",
);

/// Writes the file that starts the hook, and the hook itself, whose folder `package` gets the shared files.
pub(super) fn write_hook(folder: &Path, hook: &[File], package: &str) -> io::Result<()> {
    write(folder, HOOK)?;
    write(folder, hook)?;
    write(&folder.join(package), SHARED)
}

pub(super) fn write_package(folder: &Path) -> io::Result<()> {
    write(folder, HOOK)?;
    write(&folder.join("snapscope"), PACKAGE)
}

pub(super) fn write(folder: &Path, files: &[File]) -> io::Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_whole_package_is_in_the_binary() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/snapscope");
        let names = fs::read_dir(folder).expect("the folder of the package").flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let found: BTreeSet<_> = names.filter(|name| name.ends_with(".py") || name == "py.typed").collect();
        assert_eq!(found, PACKAGE.iter().map(|(name, _)| (*name).to_owned()).collect());
    }
}
