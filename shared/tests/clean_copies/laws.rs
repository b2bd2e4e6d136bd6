//! What holds for the clean copy of every stored snapshot.

use super::{clean, read};
use shared::analysis::{Finding, FindingsConfig, Timeline, findings};
use shared::export::{self, TextKind};
use shared::import::import;
use shared::pickle::Style;
use shared::trace::Trace;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of stored snapshots, and how many there are at least.
const FOLDERS: [(&str, usize); 2] = [("snapshots", 30), ("mistakes", 20)];

/// Words of the format that stand for themselves.
const FORMAT: [&str; 9] = [
    "small",
    "large",
    "active_allocated",
    "active_pending_free",
    "active_awaiting_free",
    "inactive",
    "stage",
    "START",
    "END",
];

fn snapshots() -> Vec<(String, Trace)> {
    let mut snapshots = Vec::new();
    for (folder, least) in FOLDERS {
        let files = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data").join(folder));
        assert!(files.len() >= least, "only {} snapshots in {folder}", files.len());
        for file in files {
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            snapshots.push((name, import(&fs::read(&file).expect("a file")).expect("a snapshot")));
        }
    }
    snapshots
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let is_snapshot = |path: &PathBuf| path.to_string_lossy().contains(".pickle");
    let mut files: Vec<PathBuf> = entries.filter(is_snapshot).collect();
    files.sort();
    files
}

fn found(trace: &Trace) -> Vec<Finding> {
    let timelines: Vec<Timeline> = trace.devices.iter().map(|device| Timeline::new(trace, device)).collect();
    let devices: Vec<_> = trace.devices.iter().zip(&timelines).collect();
    findings(trace, &devices, &FindingsConfig::default())
}

/// A finding without its texts and handles, which may name files: what it is, how bad, and how much.
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

/// What is shown before a copy leaves is all that is in it.
#[test]
fn every_text_of_a_copy_is_shown() {
    let nothing = read(&clean(&Trace::default()).0);
    let keys = nothing.strings.ids().map(|id| nothing.strings.get(id));
    let keys: HashSet<&str> = keys.chain(FORMAT).collect();
    for (name, trace) in snapshots() {
        let (bytes, report) = clean(&trace);
        let copy = read(&bytes);
        let shown: HashSet<&str> = report.remaining.iter().map(|text| text.text.as_str()).collect();
        // A setting is shown with its value.
        let settings = report.remaining.iter().filter(|text| text.kind == TextKind::Setting);
        let settings: Vec<&str> = settings.map(|text| text.text.as_str()).collect();
        let is_shown = |line: &str| shown.contains(line) || settings.iter().any(|setting| setting.contains(line));
        let texts = copy.strings.ids().map(|id| copy.strings.get(id)).filter(|text| !keys.contains(text));
        let lines = texts.flat_map(|text| text.split('\n')).filter(|line| !line.trim().is_empty());
        let hidden: Vec<&str> = lines.filter(|line| !is_shown(line)).collect();
        assert_eq!(hidden, [""; 0], "{name}");
    }
}

/// Two files that differ still do, unless they are copies of one package.
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
fn a_clean_copy_stays_as_it_is_and_is_no_larger() {
    for (name, trace) in snapshots() {
        let (bytes, _) = clean(&trace);
        assert!(clean(&read(&bytes)).0 == bytes, "{name} is changed again");
        let mut export = 0;
        export::pickle(&trace, Style::Python, |piece: &[u8]| export += piece.len());
        assert!(bytes.len() <= export, "{name}: {} bytes, exported {export}", bytes.len());
    }
}
