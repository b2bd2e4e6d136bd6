//! Tests the answers for a small trace, as text and as JSON.

use clap::Parser;
use shared::trace::text;

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    peak: PeakArgs,
}

const TRACE: &str = "
    alloc a 100 @relu<forward<main
    alloc b 50 @norm<forward<main stream=7
    free b
    alloc c 300 @relu<forward<main
    segment S 2KiB
    block old 512 requested=7
";

/// Runs `snapscope peak` with these options on the trace.
#[track_caller]
fn answer(options: &str) -> Result<String, Failure> {
    let opened = Opened::of("a.pickle".to_owned(), text::parse(TRACE).unwrap());
    let line = format!("peak a.pickle {options}");
    Line::try_parse_from(line.split_whitespace()).unwrap().peak.answer(&opened)
}

/// Compares the lines of the answer after its first, without bars and runs of spaces.
#[track_caller]
fn check(options: &str, expected: &str) {
    let page = answer(options).unwrap();
    let is_bar = |word: &&str| word.starts_with(['█', '▏', '▎', '▍', '▌', '▋', '▊', '▉']);
    let words = |line: &str| line.split_whitespace().filter(|word| !is_bar(word)).collect::<Vec<_>>().join(" ");
    let found: Vec<String> = page.lines().skip(1).map(words).filter(|line| !line.is_empty()).collect();
    assert_eq!(found, expected.lines().map(str::trim).collect::<Vec<_>>());
}

#[test]
fn the_peak_is_grouped_by_stack() {
    check(
        "",
        "GPU 0 · 407 B live in 3 allocations after event 4 · 2.00 KiB reserved
        400 B 98 % 2× relu (main.py:1) < forward (main.py:1) < main (main.py:1)
        7 B 1.7 % 1× allocated before the trace, without a stack",
    );
    check(
        "--top 1",
        "GPU 0 · 407 B live in 3 allocations after event 4 · 2.00 KiB reserved
        400 B 98 % 2× relu (main.py:1) < forward (main.py:1) < main (main.py:1)
        7 B 1.7 % 1 smaller stack",
    );
}

#[test]
fn a_filter_a_range_and_frames_change_what_is_counted() {
    check(
        "--filter NORM --at 1",
        "GPU 0 · 0 B in 0 allocations with \"NORM\" of 157 B live after event 1 · 2.00 KiB reserved",
    );
    check(
        "--filter ^norm --regex --at 1 --by stream",
        "GPU 0 · 50 B in 1 allocation with \"^norm\" of 157 B live after event 1 · 2.00 KiB reserved
        50 B 100 % 1× stream 0x7",
    );
    check(
        "--from 1 --to 4 --part born-and-kept --by size",
        "GPU 0 · 300 B in 1 allocation, allocated and kept between events 1 and 4 · 407 B live at most
        300 B 100 % 1× 256 B to 512 B",
    );
    // Frames overlap and have no sum.
    check(
        "--by frame --top 1",
        "GPU 0 · 407 B live in 3 allocations after event 4 · 2.00 KiB reserved
        400 B 98 % 2× relu (main.py:1) main.py:1
        3 smaller frames",
    );
}

#[test]
fn a_script_gets_what_was_asked_for() {
    let document: serde_json::Value = serde_json::from_str(&answer("--json --from 1 --by module").unwrap()).unwrap();
    assert_eq!(document["range"], serde_json::json!({ "from": 1, "to": 4, "part": "any" }));
    assert_eq!(
        (&document["by"], &document["bytes"], &document["allocations"]),
        (&"module".into(), &457.into(), &4.into())
    );
    assert_eq!((&document["event"], &document["live_bytes"]), (&4.into(), &407.into()));
    assert_eq!(document["groups"][0]["title"], "no module recorded");
    let document: serde_json::Value = serde_json::from_str(&answer("--json").unwrap()).unwrap();
    assert_eq!((&document["range"], &document["filter"]), (&serde_json::Value::Null, &serde_json::Value::Null));
    assert_eq!(document["groups"][1]["title"], "no stack recorded");
    assert_eq!(document["groups"][0]["frames"].as_array().map(Vec::len), Some(3));
}

#[test]
fn what_can_not_be_meant_is_refused() {
    for options in ["--part born", "--from 3 --to 1", "--to 5", "--at -2", "--filter ( --regex"] {
        assert!(answer(options).is_err(), "{options}");
    }
}
