//! Training scripts with mistakes and their recordings, of which the gallery has those that the page shows.

use crate::built::root;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Folder of the pairs that the page shows.
const GALLERY: &str = "static/gallery";

pub fn script_folders() -> [PathBuf; 2] {
    ["tests/mistakes", GALLERY].map(|folder| root().join(folder))
}

pub fn recording_folders() -> [PathBuf; 2] {
    ["tests/data/mistakes", GALLERY].map(|folder| root().join(folder))
}

/// Returns the recording of a script, which may not be stored.
pub fn recording(name: &str) -> PathBuf {
    let [other, gallery] = recording_folders().map(|folder| folder.join(format!("{name}.pickle.gz")));
    if gallery.exists() { gallery } else { other }
}

#[track_caller]
pub fn script(name: &str) -> String {
    let paths = script_folders().map(|folder| folder.join(format!("{name}.py")));
    let text = paths.iter().find_map(|path| fs::read_to_string(path).ok());
    text.unwrap_or_else(|| panic!("{name}.py can be read in none of {paths:?}"))
}

/// Returns the truth about each script; `tests/mistakes/README.md` describes its fields.
pub fn truths() -> Vec<Value> {
    let text = fs::read_to_string(root().join("tests/mistakes/truth.json")).expect("the truth can be read");
    let mut truth: Value = serde_json::from_str(&text).expect("the truth is JSON");
    serde_json::from_value(truth["recordings"].take()).expect("the truth is a list")
}
