//! Compares `snapscope inspect --json` with plain Python over CPython's pickle.

use clap::Parser;
use serde_json::Value;
use server::commands::InspectArgs;
use std::path::{Path, PathBuf};
use testkit::corpus::samples;
use testkit::cpython;

/// The command line of `snapscope inspect`.
#[derive(Parser)]
struct Inspect {
    #[command(flatten)]
    args: InspectArgs,
}

/// Returns what the command prints, without the fields that the oracle does not compute.
fn document(path: &Path) -> Value {
    let inspect = Inspect::try_parse_from(["inspect".as_ref(), "--json".as_ref(), path.as_os_str()])
        .expect("a right command line");
    let text = inspect.args.run().unwrap_or_else(|failure| panic!("{}: {failure}", path.display()));
    let mut document: Value = serde_json::from_str(&text).expect("the command prints JSON");
    let fields = document.as_object_mut().expect("the document is an object");
    assert!(fields.remove("file").is_some() && fields.remove("diagnostics").is_some(), "{}", path.display());
    document
}

/// Returns the first difference, with the path to it.
fn difference(ours: &Value, expected: &Value) -> Option<String> {
    let both = match (ours, expected) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => a.values().zip(b.values()).collect::<Vec<_>>(),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a.iter().zip(b).collect(),
        _ => return (ours != expected).then(|| format!("{ours} instead of {expected}")),
    };
    let at = |index: usize| match ours {
        Value::Object(fields) => fields.keys().nth(index).cloned().unwrap_or_default(),
        _ => index.to_string(),
    };
    let mut differences = both.into_iter().enumerate();
    differences.find_map(|(index, (a, b))| difference(a, b).map(|found| format!("{}: {found}", at(index))))
}

#[track_caller]
fn check(paths: &[PathBuf]) {
    let lines = cpython::lines("oracle.py", paths);
    assert_eq!(lines.len(), paths.len());
    for (path, line) in paths.iter().zip(lines) {
        let expected: Value = serde_json::from_str(&line).expect("the oracle prints JSON");
        assert_eq!(difference(&document(path), &expected), None, "{}", path.display());
    }
}

#[test]
fn every_figure_is_that_of_the_definitions() {
    check(&samples().into_iter().map(|sample| sample.path).collect::<Vec<_>>());
}

#[test]
fn figures_of_partial_recordings_are_those_of_the_definitions() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let sources =
        ["torch2.15-basic-py311", "torch2.15-expandable-py311", "virtual-py-recordstream-lag", "virtual-rust-dp4"];
    for sample in samples().iter().filter(|sample| sources.iter().any(|source| sample.name.starts_with(source))) {
        let cuts = cpython::lines("cuts.py", [&sample.path, folder.path()]);
        check(&cuts.into_iter().map(PathBuf::from).collect::<Vec<_>>());
    }
}
