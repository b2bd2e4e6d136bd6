//! Tests the answers for a small trace, with and without a folder, as text and as JSON.

use std::fs;
use std::path::Path;

use clap::Parser;
use serde_json::Value;
use shared::trace::text;

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    source: SourceArgs,
}

const TRACE: &str = "
    alloc a 100 @linear@/v/site-packages/torch/nn/functional.py:9<forward@/w/job/model.py:4<main@/w/job/train.py:5
    alloc b 50 @main@/w/job/train.py:5
    alloc c 300 @main@/w/job/train.py:6<f@/w/other/util.py:1
    free c
    alloc d 20
";

const MODEL: &str = "class Model:\n\n    def forward(self, x):\n        return self.layer(x)\n";
const TRAIN: &str = "import torch\n\n\ndef main():\n    y = model(x)\n    z = y + y\n    return z\n";

/// Runs `snapscope source` with these options on the trace.
#[track_caller]
fn answer(options: &str) -> Result<String, Failure> {
    let opened = Opened::of("a.pickle".to_owned(), text::parse(TRACE).unwrap());
    let line = format!("source a.pickle {options}");
    Line::try_parse_from(line.split_whitespace()).unwrap().source.answer(&opened)
}

/// Returns the answer's lines without their margins' spaces.
#[track_caller]
fn lines(options: &str) -> Vec<String> {
    let page = answer(options).unwrap();
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    page.lines().map(words).filter(|line| !line.is_empty()).collect()
}

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn with(folder: &Path, options: &str) -> String {
    format!("--source {} {options}", folder.display())
}

/// Checks that an answer has these lines, and returns all of its lines.
#[track_caller]
fn check(options: &str, expected: &[&str]) -> Vec<String> {
    let found = lines(options);
    for line in expected {
        assert!(found.iter().any(|found| found == line), "{line:?} in {found:#?}");
    }
    found
}

#[test]
fn without_a_folder_lines_are_a_table() {
    let found = lines("");
    assert_eq!(
        found[..6],
        [
            "a.pickle",
            "GPU 0 · 450 B live in 3 allocations after event 2 · 470 B allocated by 4 allocations in all events",
            "live through allocated count function place",
            "300 B 300 B 300 B 1× main /w/job/train.py:6",
            "100 B 100 B 100 B 1× forward /w/job/model.py:4",
            "50 B 150 B 50 B 1× main /w/job/train.py:5",
        ]
    );
    assert!(found[6].starts_with("300 B f /w/other/util.py:1"), "{found:?}");
    assert!(!found.iter().any(|line| line.contains("functional.py")), "{found:?}");
    check("--top 1", &["3 more lines with less memory; --top shows more"]);
}

#[test]
fn a_moment_and_a_range_have_their_own_sums() {
    check("--at 0", &["100 B 100 B 100 B 1× forward /w/job/model.py:4", "300 B 1× main /w/job/train.py:6"]);
    let range = check("--from 1 --to 1", &["50 B 150 B 50 B 1× main /w/job/train.py:5"]);
    let sums = "150 B live in 2 allocations after event 1, the peak of the range · 50 B allocated by 1 allocation in \
                events 1 to 1";
    assert!(range[1].ends_with(sums), "{range:?}");
}

#[test]
fn files_are_named_by_the_end_of_their_path() {
    assert!(lines("--file functional.py").iter().any(|line| line.ends_with("functional.py:9")));
    assert_eq!(lines("--file job/train.py").iter().filter(|line| line.contains(".py:")).count(), 2);
    let failure = answer("--file rain.py").unwrap_err();
    assert_eq!(failure.message, "a.pickle: no stack has a line of a file rain.py");
}

#[test]
fn with_a_folder_lines_are_quoted_with_their_memory() {
    let folder = project(&[("model.py", MODEL), ("train.py", TRAIN), ("data/readme.md", "")]);
    let expected = [
        "train.py",
        "350 B live from its lines, 450 B with what they call · /w/job/train.py",
        "4 def main():",
        "50 B 150 B 50 B 1× 5 y = model(x)",
        "300 B 300 B 300 B 1× 6 z = y + y",
        "100 B 100 B 100 B 1× 4 return self.layer(x)",
    ];
    let found = check(&with(folder.path(), ""), &expected);
    assert!(!found.iter().any(|line| line.contains("another version")), "{found:#?}");
    // They belong to the innermost file of the folder.
    let folder = project(&[("train.py", TRAIN)]);
    let expected = ["300 B 300 B 300 B 1× 6 z = y + y", "150 B 150 B 150 B 2× 5 y = model(x)"];
    check(&with(folder.path(), "--top 1"), &expected);
}

#[test]
fn far_lines_are_folded_unless_all_are_wanted() {
    let long = format!("{TRAIN}{}", "# more\n".repeat(20));
    let folder = project(&[("train.py", &long)]);
    check(&with(folder.path(), "--top 2"), &["… 18 lines"]);
    let all = check(&with(folder.path(), "--all"), &["27 # more"]);
    assert!(!all.iter().any(|line| line.starts_with('…')), "{all:#?}");
}

#[test]
fn what_cannot_be_shown_as_it_ran_is_named() {
    let other = project(&[("train.py", "def main():\n    y = 1\n"), ("model.py", &format!("# new\n{MODEL}"))]);
    let why = "This file may be another version than the one that ran: it ends before line 5.";
    check(&with(other.path(), ""), &[why]);
    let twice = project(&[("model.py", MODEL), ("a/train.py", TRAIN), ("b/train.py", TRAIN)]);
    check(&with(twice.path(), ""), &["/w/job/train.py is not shown: could be a/train.py or b/train.py."]);
    let no_text = project(&[("train.py", "\0")]);
    let lines = ["The file is not a text file, so it is not shown.", "300 B 300 B 300 B 1× 6 main"];
    check(&with(no_text.path(), ""), &lines);
}

#[test]
fn a_folder_without_the_files_is_an_error() {
    let folder = project(&[("a.py", "")]);
    let failure = answer(&with(folder.path(), "")).unwrap_err();
    assert!(failure.message.ends_with("none of the 4 source files in the stacks is there"), "{failure}");
    assert!(failure.hint.ends_with("one of its files was /w/job/model.py"), "{failure}");
    let elsewhere = project(&[("train.py", TRAIN)]);
    let failure = answer(&with(elsewhere.path(), "--file model.py")).unwrap_err();
    assert!(failure.message.ends_with("the file model.py of the stacks is not there"), "{failure}");
    let missing = answer(&with(&folder.path().join("missing"), "")).unwrap_err();
    assert_eq!(missing.hint, "pass the folder with the source files");
    let folder = project(&[("a/train.py", ""), ("b/train.py", "")]);
    let failure = answer(&with(folder.path(), "")).unwrap_err();
    assert!(failure.message.ends_with("could be a/train.py or b/train.py"), "{failure}");
}

#[test]
fn json_has_the_lines_and_their_texts() {
    let document = |options: &str| serde_json::from_str::<Value>(&answer(options).unwrap()).unwrap();
    let plain = document("--json");
    assert_eq!((&plain["file"], &plain["event"], plain.get("found")), (&"a.pickle".into(), &2.into(), None));
    assert_eq!(plain["files"][0]["lines"][1]["own"]["live_bytes"], 300);
    let folder = project(&[("model.py", MODEL), ("train.py", TRAIN)]);
    let found = document(&with(folder.path(), "--json --top 1"));
    assert_eq!(found["found"][0]["file"], "train.py");
    assert_eq!(found["found"][0]["lines"][0], serde_json::json!({ "line": 6, "text": "    z = y + y" }));
    assert_eq!((&found["found"][0]["note"], &found["other_lines"]), (&Value::Null, &2.into()));
}
