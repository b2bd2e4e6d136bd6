//! Tests clean copies with texts from real clusters, and the rules that hold for every stored snapshot.

mod cases;
mod laws;
mod random;
mod small;

use crate::support::copies::{Place, clean, empty, put, read};
use cases::Case;
use shared::export;
use shared::pickle::Style;
use shared::trace::Trace;

/// Returns the length of the export of a trace in bytes.
fn export_len(trace: &Trace) -> usize {
    let mut len = 0;
    export::pickle(trace, Style::Python, |piece: &[u8]| len += piece.len());
    len
}

/// Returns the errors in the copies of these texts: each text alone, then all in one trace.
fn wrong(cases: &[Case]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut all = empty();
    for (place, text, gone, stays) in cases {
        let mut one = empty();
        put(&mut one, *place, text);
        put(&mut all, *place, text);
        let (bytes, report) = clean(&one);
        let copy = String::from_utf8_lossy(&bytes);
        let lower = copy.to_lowercase();
        let shown = || report.remaining.iter().map(|text| text.text.as_str()).collect::<Vec<_>>().join(" | ");
        wrong.extend(
            gone.iter().filter(|word| lower.contains(**word)).map(|w| format!("{text} keeps {w}: {}", shown())),
        );
        wrong.extend(
            stays.iter().filter(|word| !copy.contains(**word)).map(|w| format!("{text} lost {w}: {}", shown())),
        );
        let (again, _) = clean(&read(&bytes));
        if again != bytes {
            wrong.push(format!("{text} is changed again: {}", shown()));
        }
    }
    let lower = String::from_utf8_lossy(&clean(&all).0).to_lowercase();
    let people = ["zuzana", "jürgen", "möller"];
    wrong.extend(people.iter().filter(|word| lower.contains(**word)).map(|word| format!("together they keep {word}")));
    wrong
}

#[track_caller]
fn check(cases: &[Case]) {
    let wrong = wrong(cases);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn names_hosts_addresses_and_keys_go() {
    check(cases::KNOWN);
}

#[test]
fn rules_hold_for_what_they_were_not_written_for() {
    check(cases::HELD_BACK);
}

/// Snapshot from the review that found the flaws of the old rules.
#[test]
fn files_of_two_people_leak_neither() {
    let mut trace = empty();
    put(&mut trace, Place::File, "/fsx/ada/proj/train.py");
    put(&mut trace, Place::File, "/fsx/shared/lib/util.py");
    let note = "ada on gpu-node-17.corp.internal: -I/fsx/ada/secret/inc https://wandb.corp/ada/run s3://ada-bucket/x";
    put(&mut trace, Place::Annotation, note);
    let (bytes, report) = clean(&trace);
    let text = String::from_utf8_lossy(&bytes);
    for word in ["ada", "gpu-node", "wandb", "secret", "fsx"] {
        assert!(!text.replace("metadata", "").contains(word), "{word} in {:?}", report.remaining);
    }
}
