//! Checks exported and generated snapshots with CPython.

use shared::export;
use shared::pickle::Style;
use std::path::{Path, PathBuf};
use testkit::corpus::samples;
use testkit::cpython;
use testkit::generator::{Config, generate_vec};

const STYLES: [Style; 3] = [Style::Python, Style::Python5, Style::Torch];

fn write(folder: &Path, name: &str, style: Style, bytes: &[u8]) -> PathBuf {
    let path = folder.join(format!("{name}.{style:?}"));
    std::fs::write(&path, bytes).expect("a temporary file can be written");
    path
}

/// Exports every stored snapshot in a style; returns the paths of the originals and the exports.
fn exports(folder: &Path, style: Style) -> Vec<(PathBuf, PathBuf)> {
    let export = |sample: testkit::corpus::Sample| {
        let mut bytes = Vec::new();
        export::pickle(&sample.trace(), style, |piece: &[u8]| bytes.extend_from_slice(piece));
        (sample.path, write(folder, &sample.name, style, &bytes))
    };
    samples().into_iter().map(export).collect()
}

#[test]
fn an_export_says_what_the_file_said() {
    let folder = tempfile::tempdir().expect("a folder");
    // Python5 differs from Python in one byte.
    for style in [Style::Python, Style::Torch] {
        let pairs = exports(folder.path(), style).into_iter().flat_map(|(original, export)| [original, export]);
        assert_eq!(cpython::lines("same_snapshot.py", pairs), [""; 0]);
    }
}

#[test]
fn cpython_would_write_an_export_byte_for_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    for style in [Style::Python, Style::Python5] {
        let paths = exports(folder.path(), style).into_iter().map(|(_, export)| export);
        assert_eq!(cpython::lines("repickle.py", paths), [""; 0]);
    }
}

#[test]
fn cpython_would_write_a_generated_snapshot_byte_for_byte_and_it_says_the_same_in_every_style() {
    let folder = tempfile::tempdir().expect("a folder");
    let generated =
        |seed, events, style| write(folder.path(), "generated", style, &generate_vec(&Config { seed, events, style }));
    let paths = [Style::Python, Style::Python5].map(|style| generated(7, 9000, style));
    assert_eq!(cpython::lines("repickle.py", paths), [""; 0]);
    let [python, python5, torch] = STYLES.map(|style| generated(8, 5000, style));
    assert_eq!(cpython::lines("same_snapshot.py", [&python, &torch, &python, &python5]), [""; 0]);
}
