//! Tests that names of any length neither stop a command nor fill its answer, which repeats them.

use std::fs;

use shared::export;
use shared::import::import;
use shared::pickle::Style;
use shared::trace::{Trace, text};
use tempfile::TempDir;
use testkit::equal::difference;

use crate::cli::command::run;

/// More letters than Rust's formatting pads to.
const LETTERS: usize = 70_000;

/// Frames of each stack.
const DEPTH: usize = 20;

/// More than any answer about these few events has.
const MOST_BYTES: usize = 600_000;

/// Creates a trace of which every name is long: functions, files, texts of users and annotations.
fn trace() -> Trace {
    let name = |what: &str, number: usize| format!("{what}{}{number}", "x".repeat(LETTERS));
    let lines = (0..6).map(|number| {
        let frame = format!("{}@{}.py", name("f", number), name("/home/", number));
        let stack = vec![frame; DEPTH].join("<");
        let note = name("holder/held:", number);
        let step = name("step", number);
        format!("start {step}\nalloc a{number} 2MiB @{stack} note={note}\nalloc b{number} 1MiB @{stack}\nend {step}\n")
    });
    text::parse(&(lines.collect::<String>() + "oom 4GiB free=1MiB\n")).unwrap()
}

fn snapshot(trace: &Trace) -> Vec<u8> {
    let mut bytes = Vec::new();
    export::pickle(trace, Style::Python, |piece: &[u8]| bytes.extend_from_slice(piece));
    bytes
}

#[test]
fn no_command_stops_at_a_long_name_or_repeats_it() {
    let folder = TempDir::new().unwrap();
    let [file, out] = ["long.pickle", "out"].map(|name| folder.path().join(name).to_string_lossy().into_owned());
    fs::write(&file, snapshot(&trace())).unwrap();
    for command in
        ["inspect", "peak", "peak --by frame", "peak --by category", "diagnose", "segments", "source", "replay"]
    {
        for json in [&[][..], &["--json"]] {
            check(&[&command.split(' ').collect::<Vec<_>>(), json, &[file.as_str()]].concat());
        }
    }
    check(&["open", "--text", &file]);
    for command in [&["diff"][..], &["diff", "--json"], &["diff", "--markdown"], &["ranks"], &["ranks", "--json"]] {
        check(&[command, &[file.as_str(), file.as_str()]].concat());
    }
    for to in ["svg", "csv", "markdown", "speedscope", "html"] {
        check(&["export", "--to", to, "--output", &out, &file]);
        let len = fs::metadata(&out).unwrap().len() as usize;
        assert!(len < MOST_BYTES, "{to} has {len} bytes");
        fs::remove_file(&out).unwrap();
    }
}

#[track_caller]
fn check(arguments: &[&str]) {
    let output = run(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?}: {said}");
    let len = output.stdout.len() + output.stderr.len();
    assert!(len < MOST_BYTES, "{arguments:?} prints {len} bytes");
}

#[test]
fn copies_keep_long_names() {
    let trace = trace();
    assert_eq!(difference(&import(&snapshot(&trace)).unwrap(), &trace), None);
}
