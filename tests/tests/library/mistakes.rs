//! Checks the findings on the recordings of scripts: mistakes are named, and healthy runs are not accused.

use testkit::built::root;
use testkit::judge::{Truths, Verdict, ask, judge, recordings};
use testkit::mistakes::{recording, recording_folders, truths};

#[test]
fn each_mistake_is_named_and_nobody_is_accused() {
    let truths = Truths::read(&root().join("tests/mistakes/truth.json")).expect("the truth can be read");
    let mut wrong = Vec::new();
    let (mut named, mut fine) = (0, 0);
    for path in recordings(&recording_folders()).expect("the folders can be listed") {
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
    let (mut right, mut wrong) = (0, Vec::new());
    for case in truths() {
        let name = case["name"].as_str().expect("a name");
        let path = recording(name);
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
