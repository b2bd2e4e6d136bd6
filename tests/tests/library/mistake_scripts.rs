//! Checks that the training scripts with mistakes, their truth and their recordings match.
//!
//! The findings in the recordings are judged elsewhere; this notices an edit of a script that moves a line without a
//! new recording.

use serde_json::Value;
use shared::trace::Trace;
use std::collections::BTreeSet;
use testkit::corpus::decode;
use testkit::judge::recordings;
use testkit::mistakes::{recording, recording_folders, script, script_folders, truths};

const MAX_FILE_BYTES: u64 = 300_000;
const MAX_FOLDER_BYTES: u64 = 5_000_000;

const RUNS: [&str; 8] =
    ["training", "forward", "inference", "generation", "evaluation", "set-up", "no-trace", "unknown"];

fn name(case: &Value) -> &str {
    case["name"].as_str().expect("a case has a name")
}

fn texts<'a>(case: &'a Value, key: &str) -> Vec<&'a str> {
    let list = case[key].as_array().unwrap_or_else(|| panic!("{}: {key} is no list", name(case)));
    list.iter().map(|text| text.as_str().expect("a list of texts")).collect()
}

fn lines(case: &Value) -> Vec<u64> {
    let list = case["file_line"].as_array().expect("file_line is a list");
    list.iter().map(|line| line.as_u64().expect("a line is a number")).collect()
}

/// Returns true for a line that can run: neither empty, nor a comment, nor the head of a definition.
fn is_code(script: &str, line: u64) -> bool {
    let code = script.lines().nth(line as usize - 1).unwrap_or_default().trim();
    !code.is_empty() && !["#", "def ", "class ", "import "].iter().any(|head| code.starts_with(head))
}

fn recorded_lines(trace: &Trace, script: &str) -> BTreeSet<u64> {
    let path = format!("/{script}.py");
    let of_script = trace.frames.iter().filter(|frame| trace.strings.get(frame.filename).ends_with(&path));
    of_script.map(|frame| frame.line).collect()
}

#[test]
fn each_truth_is_whole() {
    for case in truths() {
        let (name, mistake) = (name(&case), case["kind"] == "mistake");
        assert!(mistake || case["kind"] == "healthy", "{name}: kind");
        assert!(RUNS.contains(&case["run"].as_str().unwrap_or_default()), "{name}: run");
        assert!(case["cause"].as_str().is_some_and(|cause| cause.ends_with('.')), "{name}: cause");
        assert!(!mistake || !texts(&case, "words").is_empty(), "{name}: nothing says what an adequate title holds");
        assert!(!texts(&case, "never").is_empty(), "{name}: nothing says what would be a false accusation");
    }
}

#[test]
fn each_script_has_a_truth_and_each_bad_one_a_repair() {
    let told: BTreeSet<_> = truths().iter().map(|case| name(case).to_owned()).collect();
    let scripts = script_folders().map(|folder| std::fs::read_dir(folder).expect("the folder can be listed"));
    for entry in scripts.into_iter().flatten() {
        let file = entry.expect("the folder can be listed").file_name().into_string().expect("a plain name");
        let Some(script) = file.strip_suffix(".py").filter(|script| *script != "record") else { continue };
        assert!(told.contains(script), "{script} has no truth");
        if let Some(pair) = script.strip_suffix("_bad") {
            assert!(told.contains(&format!("{pair}_good")), "{script} has no repair");
        }
    }
}

#[test]
fn each_named_line_is_code() {
    for case in truths() {
        let text = script(name(&case));
        for line in lines(&case) {
            assert!(is_code(&text, line), "{}:{line} is no code", name(&case));
        }
    }
}

#[test]
fn each_recording_is_small_and_shows_a_named_line() {
    let mut total = 0;
    for case in truths() {
        let (name, path) = (name(&case), recording(name(&case)));
        if !path.exists() {
            continue;
        }
        let bytes = std::fs::read(&path).expect("a recording can be read");
        assert!(bytes.len() as u64 <= MAX_FILE_BYTES, "{name} has {} bytes", bytes.len());
        total += bytes.len() as u64;
        let (expected, text) = (lines(&case), script(name));
        let found = recorded_lines(&decode(name, &bytes, bytes.len()), name);
        let shown = expected.is_empty() || expected.iter().any(|line| found.contains(line));
        assert!(shown, "{name}: none of the lines {expected:?} is in a stack: record it again");
        for line in found {
            assert!(is_code(&text, line), "{name}: line {line} of a stack is no code any more: record it again");
        }
    }
    assert!(total > 0, "there are no recordings");
    assert!(total <= MAX_FOLDER_BYTES, "the recordings have {total} bytes");
}

#[test]
fn each_recording_has_a_truth() {
    let told: BTreeSet<_> = truths().iter().map(|case| recording(name(case))).collect();
    for path in recordings(&recording_folders()).expect("the folders can be listed") {
        assert!(told.contains(&path), "{} has no truth", path.display());
    }
}
