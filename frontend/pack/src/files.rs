//! Files by path.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

/// Contents of files by path, with `/` between folders.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Document that a site must have.
pub(crate) const INDEX: &str = "index.html";

/// Reads all files of a folder, including its subfolders.
///
/// # Errors
///
/// Returns an error if the folder or a file in it cannot be read, or a name is not UTF-8.
pub(crate) fn read_folder(folder: &Path) -> Result<Files> {
    let mut files = Files::new();
    read_into(folder, "", &mut files).with_context(|| format!("reading {}", folder.display()))?;
    Ok(files)
}

fn read_into(folder: &Path, prefix: &str, files: &mut Files) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().with_context(|| format!("the name {name:?} is not UTF-8"))?;
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            read_into(&entry.path(), &format!("{path}/"), files)?;
        } else {
            files.insert(path, std::fs::read(entry.path())?);
        }
    }
    Ok(())
}
