//! Tests `host` and `diagnose` together on Python programs whose host memory climbs, and on the same ones repaired.

use serde_json::Value;
use testkit::server::root;

use crate::cli::command::{check_refusal, json, run};

/// Samples a script of `tests/data/host` and returns its findings, the most important first.
#[track_caller]
fn findings(script: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("host.csv");
    let (log, script) = (log.to_string_lossy(), root().join("tests/data/host").join(script));
    let arguments = ["host", "--every", "50ms", "-o", &log, "--", "python3", &script.to_string_lossy()];
    let sampled = run(&arguments);
    assert!(sampled.status.success(), "{sampled:?}");
    let mut document = json(&["diagnose", "--json", &log]);
    match document["findings"].take() {
        Value::Array(findings) => findings,
        other => panic!("no list: {other}"),
    }
}

#[track_caller]
fn check_pair(mistake: &str, repaired: &str, code: &str, words: &[&str]) {
    let found = findings(mistake);
    let named: Vec<&str> = found.iter().filter_map(|finding| finding["code"].as_str()).collect();
    assert!(named.contains(&code), "{mistake}: {found:#?}");
    let text = found.iter().map(Value::to_string).collect::<String>();
    for word in words {
        assert!(text.contains(word), "{mistake}: {word} is not in {text}");
    }
    assert_eq!(findings(repaired), Vec::<Value>::new(), "{repaired}");
}

#[test]
fn workers_copy_the_pages_of_objects() {
    let words = ["within each epoch", "2 processes climb", "NumPy array", "proportional ones (PSS) climb", "high"];
    check_pair("objects_in_workers.py", "arrays_in_workers.py", "host-memory-climbs", &words);
}

#[test]
fn workers_fill_a_cache() {
    let words = ["within each epoch", "as workers of a data loader do", "self.cache[index]"];
    check_pair("cache_in_workers.py", "no_cache_in_workers.py", "host-memory-climbs", &words);
}

#[test]
fn the_main_process_collects_outputs() {
    let words = ["within each epoch", "loss.item() instead of loss", "Process "];
    check_pair("outputs_until_the_end.py", "sums_of_outputs.py", "host-memory-climbs", &words);
}

#[test]
fn a_part_stays_after_each_epoch() {
    check_pair("losses_for_good.py", "losses_of_an_epoch.py", "host-memory-kept", &["stay after each epoch"]);
}

#[test]
fn the_status_is_that_of_the_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("host.csv").to_string_lossy().into_owned();
    let status = |command: &[&str]| run(&[&["host", "-o", &log, "--"], command].concat()).status.code();
    assert_eq!(status(&["sh", "-c", "exit 7"]), Some(7));
    assert_eq!(status(&["sh", "-c", "kill -9 $$"]), Some(137));
    check_refusal(&["host", "-o", &log, "--", "no-such-program"], &["no-such-program"]);
    check_refusal(&["host", "-o", &log, "4000000000"], &["there is no process 4000000000"]);
}
