//! Runs the scripts of `tests/python`, with CPython as an oracle.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// Runs a script of `tests/python` and returns the lines that it printed.
#[track_caller]
pub fn lines<A: AsRef<OsStr>>(script: &str, arguments: impl IntoIterator<Item = A>) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("python").join(script);
    let output = Command::new("python3").arg(path).args(arguments).output().expect("python3 can be started");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("the script prints UTF-8");
    text.lines().map(str::to_owned).collect()
}
