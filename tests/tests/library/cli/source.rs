//! Tests `source`: the memory of source lines, and the lines of a folder.

use std::fs;
use std::path::Path;

use testkit::corpus::samples;

use crate::cli::command::{check_refusal, json, run, stored};

/// Prints what a command answers.
#[track_caller]
fn answered(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Makes a folder with a file of `/srv/train`, of which only one line is known.
fn project(name: &str, line: usize, code: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!("{}{code}\n", "import torch\n".repeat(line - 1));
    fs::write(folder.path().join(name), text).expect("room");
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn lines_and_what_no_line_owns_add_up_to_the_peak() {
    for sample in samples() {
        let path = sample.path.to_string_lossy();
        if sample.name == "made-no-gpu.pickle" {
            check_refusal(&["source", &path], &["no device", "never initialized"]);
            continue;
        }
        let document = json(&["source", "--json", "--top", "1000000", &path]);
        let peak = json(&["peak", "--json", &path]);
        let of_lines = |key: &str| {
            let files = document["files"].as_array().expect("files").iter();
            let lines = files.flat_map(|file| file["lines"].as_array().expect("lines"));
            lines.filter_map(|line| line["own"][key].as_u64()).sum::<u64>()
        };
        let unowned = document["unowned"]["live_bytes"].as_u64().expect("a number");
        assert_eq!(Some(of_lines("live_bytes") + unowned), peak["live_bytes"].as_u64(), "{}", sample.name);
        assert_eq!((&document["event"], &document["totals"]["live_bytes"]), (&peak["event"], &peak["live_bytes"]));
    }
}

#[test]
fn allocations_of_a_range_are_those_that_are_born_in_it() {
    let file = stored("virtual-py-hf-gpt2-h100.pickle.gz");
    let range = ["--json", "--from", "2000", "--to", "4000", &file];
    let source = json(&[&["source"], &range[..]].concat());
    let born = json(&[&["peak", "--part", "born"], &range[..]].concat());
    assert_eq!(source["totals"]["allocated_bytes"], born["bytes"]);
    assert_eq!(source["totals"]["allocated_count"], born["allocations"]);
    assert_eq!((&source["from"], &source["to"]), (&2000.into(), &4000.into()));
}

#[test]
fn a_folder_has_the_lines_of_the_stacks_and_findings_unless_a_file_has_changed() {
    let file = stored("virtual-py-gpt2-oom-t4.pickle.gz");
    let folder = project("oomt4.py", 9, "loss = model(ids, labels=ids).loss");
    let page = answered(&["source", &file, "--source", text(folder.path())]);
    let line = page.lines().find(|line| line.contains("model(ids")).unwrap_or_else(|| panic!("{page}"));
    let cells: Vec<&str> = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(cells[..2], ["12.6 GiB", "12.6 GiB"], "{page}");
    let document = json(&["source", "--json", &file, "--source", text(folder.path()), "--top", "1"]);
    let found = &document["found"][0];
    assert_eq!((&found["file"], &found["path"]), (&"oomt4.py".into(), &"/srv/train/oomt4.py".into()));
    assert_eq!(found["lines"][0]["text"], "loss = model(ids, labels=ids).loss");
    let file = stored("virtual-py-gpt2-oom-t4.pickle.gz");
    let folder = project("oomt4.py", 4, "loss = 1");
    let page = answered(&["source", &file, "--source", text(folder.path())]);
    assert!(page.contains("may be another version than the one that ran: it ends before line 9."), "{page}");
    let file = stored("virtual-py-recordstream-lag.pickle.gz");
    let folder = project("g6.py", 39, "buffers.append(torch.empty(1 << 21))");
    let plain = answered(&["diagnose", &file]);
    let quoted = answered(&["diagnose", &file, "--source", text(folder.path())]);
    assert!(quoted.contains("\n    g6.py:39: buffers.append(torch.empty(1 << 21))\n"), "{quoted}");
    let rest = quoted.lines().filter(|line| !line.contains("g6.py:39: "));
    assert_eq!(rest.collect::<Vec<_>>(), plain.lines().collect::<Vec<_>>());
}

#[test]
fn what_cannot_be_shown_is_said() {
    let file = stored("virtual-py-gpt2-oom-t4.pickle.gz");
    let empty = tempfile::tempdir().expect("a folder");
    let folder = text(empty.path());
    let nothing = ["source files in the stacks is there", "/srv/train/oomt4.py"];
    check_refusal(&["source", &file, "--source", folder], &nothing);
    check_refusal(&["source", &file, "--source", "no/such/folder"], &["no/such/folder", "hint:"]);
    check_refusal(&["source", &file, "--file", "nothing.py"], &["no stack has a line of a file nothing.py"]);
    check_refusal(&["source", &file, "--from", "9", "--to", "3"], &["--to is before --from"]);
    check_refusal(&["source", &file, "--at", "99999999"], &["no event 99999999"]);
    assert_eq!(run(&["source", &file, "--all"]).status.code(), Some(2), "--all needs --source");
}
