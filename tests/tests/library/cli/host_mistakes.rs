//! Samples the programs of `tests/mistakes/host` by `snapscope host`: mistakes are named, and repairs are not accused.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use testkit::server::root;

use crate::cli::command::{json, run};

fn folder() -> PathBuf {
    root().join("tests/mistakes/host")
}

/// Returns what is known about each of the `pairs`, or of the `healthy` programs.
fn truths(list: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join("truth.json")).expect("the truth can be read");
    let mut truth: Value = serde_json::from_str(&text).expect("the truth is JSON");
    serde_json::from_value(truth[list].take()).expect("a list")
}

fn texts<'a>(truth: &'a Value, key: &str) -> Vec<&'a str> {
    truth[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Samples a program and returns its findings, the most important first.
#[track_caller]
fn findings(script: &str) -> Vec<Value> {
    let temporary = tempfile::tempdir().expect("a folder");
    let log = temporary.path().join("host.csv");
    let (log, script) = (log.to_string_lossy(), folder().join(script));
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
fn check(name: &str) {
    let truths = truths("pairs");
    let truth = truths.iter().find(|truth| truth["name"] == name).expect("a truth");
    let found = findings(&format!("{name}_bad.py"));
    let codes: Vec<&str> = found.iter().filter_map(|finding| finding["code"].as_str()).collect();
    assert_eq!(codes.first().copied(), truth["code"].as_str(), "{name}: {found:#?}");
    for code in texts(truth, "also") {
        assert!(codes.contains(&code), "{name}: {code} is not in {codes:?}");
    }
    let text = found.iter().map(Value::to_string).collect::<String>();
    for word in texts(truth, "words") {
        // The text is that of JSON, which escapes quotation marks only.
        assert!(text.contains(word), "{name}: {word} is not in {text}");
    }
    assert_eq!(findings(&format!("{name}_good.py")), Vec::<Value>::new(), "{name}");
}

/// Declares a test for each pair, and their names.
macro_rules! pairs {
    ($($name:ident,)*) => {
        const PAIRS: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*
    };
}

pairs! {
    copied_samples,
    worker_cache,
    epoch_outputs,
    kept_losses,
    batch_views,
    step_records,
    feature_cache,
    loss_chain,
    shared_batches,
    deep_prefetch,
    thread_arenas,
}

#[test]
fn healthy_programs_are_not_accused() {
    for truth in truths("healthy") {
        let name = truth["name"].as_str().expect("a name");
        for finding in findings(&format!("{name}.py")) {
            let title = finding["title"].as_str().unwrap_or_default();
            let is_allowed = texts(&truth, "allowed").iter().any(|words| title.contains(words));
            assert!(is_allowed && finding["severity"] == "info", "{name}: {finding:#}");
        }
    }
}

#[test]
fn each_program_has_a_truth_and_a_test() {
    let tested: BTreeSet<String> = PAIRS.iter().map(|name| (*name).to_owned()).collect();
    let names = |list| truths(list).into_iter().map(|truth| truth["name"].as_str().expect("a name").to_owned());
    assert_eq!(tested, names("pairs").collect());
    let scripts = std::fs::read_dir(folder()).expect("the folder can be listed");
    let files = scripts.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let python: BTreeSet<String> = files.filter(|name| name.ends_with(".py")).collect();
    let pairs = PAIRS.iter().flat_map(|name| [format!("{name}_bad.py"), format!("{name}_good.py")]);
    assert_eq!(python, pairs.chain(names("healthy").map(|name| format!("{name}.py"))).collect());
    let readme = std::fs::read_to_string(folder().join("README.md")).expect("the page can be read");
    for name in PAIRS {
        assert!(readme.contains(&format!("| `{name}` |")), "{name} is not in the list of pairs");
    }
}
