//! Checks exported and generated snapshots with CPython.

use shared::export;
use shared::pickle::Style;
use std::path::PathBuf;
use testkit::corpus::samples;
use testkit::cpython;
use testkit::generator::{Config, generate_vec};

const STYLES: [Style; 3] = [Style::Python, Style::Python5, Style::Torch];

/// Temporary folder of a test's files.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder can be made"))
    }

    fn write(&self, name: &str, style: Style, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(format!("{name}.{style:?}"));
        std::fs::write(&path, bytes).expect("a temporary file can be written");
        path
    }
}

/// Exports every stored snapshot in a style; returns the paths of the originals and the exports.
fn exports(folder: &Folder, style: Style) -> Vec<(PathBuf, PathBuf)> {
    let export = |sample: testkit::corpus::Sample| {
        let mut bytes = Vec::new();
        export::pickle(&sample.trace(), style, |piece: &[u8]| bytes.extend_from_slice(piece));
        (sample.path, folder.write(&sample.name, style, &bytes))
    };
    samples().into_iter().map(export).collect()
}

#[test]
fn an_export_says_what_the_file_said() {
    let folder = Folder::new();
    // Python5 differs from Python in one byte.
    for style in [Style::Python, Style::Torch] {
        let pairs = exports(&folder, style).into_iter().flat_map(|(original, export)| [original, export]);
        assert_eq!(cpython::lines("same_snapshot.py", pairs), [""; 0]);
    }
}

#[test]
fn cpython_would_write_an_export_byte_for_byte() {
    let folder = Folder::new();
    for style in [Style::Python, Style::Python5] {
        let paths = exports(&folder, style).into_iter().map(|(_, export)| export);
        assert_eq!(cpython::lines("repickle.py", paths), [""; 0]);
    }
}

#[test]
fn cpython_would_write_a_generated_snapshot_byte_for_byte() {
    let folder = Folder::new();
    let path = |style| folder.write("generated", style, &generate_vec(&Config { seed: 7, events: 9000, style }));
    assert_eq!(cpython::lines("repickle.py", [Style::Python, Style::Python5].map(path)), [""; 0]);
}

#[test]
fn a_generated_snapshot_says_the_same_in_every_style() {
    let folder = Folder::new();
    let path = |style| folder.write("generated", style, &generate_vec(&Config { seed: 8, events: 5000, style }));
    let [python, python5, torch] = STYLES.map(path);
    assert_eq!(cpython::lines("same_snapshot.py", [&python, &torch, &python, &python5]), [""; 0]);
}
