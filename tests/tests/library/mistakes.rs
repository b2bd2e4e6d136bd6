//! Checks the findings on the recordings of `tests/data/mistakes`: mistakes are named, and healthy runs are not
//! accused.

use std::path::Path;
use testkit::judge::{Truths, Verdict, ask, judge, recordings};

#[test]
fn each_mistake_is_named_and_nobody_is_accused() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let truths = Truths::read(&tests.join("mistakes/truth.json")).expect("the truth can be read");
    let mut wrong = Vec::new();
    let (mut named, mut fine) = (0, 0);
    for path in recordings(&tests.join("data/mistakes")).expect("the folder can be listed") {
        let said = ask(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        match judge(&said, &truths.of(&said.name)) {
            Verdict::Named => named += 1,
            Verdict::Fine => fine += 1,
            verdict => wrong.push(format!("{}: {}: {:?}", said.name, verdict.word(), &said.findings[..1])),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(named >= 35 && fine >= 65, "{named} mistakes were named, {fine} runs are fine: too few are stored");
}

#[test]
fn kinds_of_runs_are_told() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(tests.join("mistakes/truth.json")).expect("the truth can be read");
    let truth: serde_json::Value = serde_json::from_str(&text).expect("the truth is JSON");
    let (mut right, mut wrong) = (0, Vec::new());
    for case in truth["recordings"].as_array().expect("a list") {
        let name = case["name"].as_str().expect("a name");
        let path = tests.join("data/mistakes").join(format!("{name}.pickle.gz"));
        if !path.exists() {
            continue;
        }
        let said = ask(&path).expect("a recording");
        let also = case["run_also"].as_array().into_iter().flatten();
        let kinds: Vec<_> = std::iter::once(&case["run"]).chain(also).filter_map(|kind| kind.as_str()).collect();
        match said.kinds.iter().any(|kind| kinds.contains(kind)) {
            true => right += 1,
            false => wrong.push(format!("{name}: {:?} for {kinds:?}", said.kinds)),
        }
    }
    // An inference that leaves gradients on by mistake looks like training, so 1 wrong kind per 20 right ones is
    // accepted.
    assert!(wrong.len() * 20 <= right, "{right} are right, and not: {}", wrong.join("; "));
}
