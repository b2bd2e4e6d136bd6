//! Runs the binary `snapscope` and reads its output.

use std::process::{Command, Output};

use serde_json::Value;
use testkit::corpus::samples;
use testkit::server::snapscope;

pub(crate) fn run(arguments: &[&str]) -> Output {
    Command::new(snapscope()).args(arguments).output().expect("the binary to start")
}

#[track_caller]
pub(crate) fn stored(name: &str) -> String {
    let sample = samples().into_iter().find(|sample| sample.name == name).expect(name);
    sample.path.to_string_lossy().into_owned()
}

#[track_caller]
pub(crate) fn json(arguments: &[&str]) -> Value {
    let output = run(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

/// Checks that a command fails with only a message on standard error, which contains these parts.
#[track_caller]
pub(crate) fn check_refusal(arguments: &[&str], parts: &[&str]) {
    let output = run(arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(output.stdout.is_empty(), "nothing on standard output");
    for part in parts {
        assert!(text.contains(part), "{part:?} in {text}");
    }
}
