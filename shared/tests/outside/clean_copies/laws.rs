//! Checks the clean copy of every stored snapshot.

use super::export_len;
use crate::support::copies::{clean, hold, hold_with, read, traced};
use crate::support::{self, stored};
use shared::analysis::{Finding, FindingsConfig, Timeline, findings};
use shared::export::SanitizeOptions;
use shared::trace::Trace;
use std::collections::HashSet;

/// Folders of stored snapshots, the end of their names, and the minimum number of files in each.
const FOLDERS: [(&str, &str, usize); 3] = [
    ("../tests/data/snapshots", "", 30),
    ("../tests/data/mistakes", ".pickle.gz", 20),
    ("../static/gallery", ".pickle.gz", 40),
];

fn snapshots() -> impl Iterator<Item = (String, Trace)> {
    FOLDERS.iter().flat_map(|(folder, end, least)| support::snapshots(folder, *least, |name| name.ends_with(end)))
}

fn found(trace: &Trace) -> Vec<Finding> {
    let timelines: Vec<Timeline> = trace.devices.iter().map(|device| Timeline::new(trace, device)).collect();
    let devices: Vec<_> = trace.devices.iter().zip(&timelines).collect();
    findings(trace, &devices, &FindingsConfig::default())
}

/// Returns the parts of a finding that are independent of its texts and handles, which may name files.
fn judged(finding: &Finding) -> impl PartialEq + std::fmt::Debug + use<> {
    let Finding { code, severity, confidence, rank, device, bytes, evidence, .. } = finding;
    (*code, *severity, *confidence, *rank, *device, *bytes, evidence.events.clone(), evidence.stacks.len())
}

#[test]
fn findings_are_those_of_the_original() {
    for (name, trace) in snapshots() {
        let copy = read(&clean(&trace).0);
        let (before, after) = (found(&trace), found(&copy));
        let judge = |findings: &[Finding]| findings.iter().map(judged).collect::<Vec<_>>();
        assert_eq!(judge(&before), judge(&after), "{name}");
    }
}

/// Files that differ still do in the copy, unless they are copies of one package.
#[test]
fn files_still_differ() {
    for (name, trace) in snapshots() {
        let copy = read(&clean(&trace).0);
        let own = |trace: &Trace| {
            let files = trace.frames.iter().map(|frame| trace.strings.get(frame.filename).replace('\\', "/"));
            files.filter(|file| !file.contains("-packages/")).collect::<HashSet<_>>().len()
        };
        assert_eq!(own(&trace), own(&copy), "{name}");
    }
}

#[test]
fn every_copy_keeps_the_laws_and_is_no_larger() {
    for (name, trace) in snapshots() {
        println!("{name}");
        hold_with(&trace, &SanitizeOptions::default());
        let (bytes, _) = clean(&trace);
        let export = export_len(&trace);
        assert!(bytes.len() <= export, "{name}: {} bytes, exported {export}", bytes.len());
    }
}

#[test]
fn texts_that_the_fuzzer_met_keep_the_laws() {
    for (name, bytes) in stored::files("fuzz/corpus/sanitizer", 3) {
        println!("{name}");
        hold(&traced(str::from_utf8(&bytes).expect("a text")));
    }
}
