//! Each code that programs read is in one list, and the documents show that list.

use std::collections::BTreeSet;
use std::fs;

use shared::analysis::FindingCode;
use shared::api::{ErrorCode, JobErrorCode};
use testkit::corpus::samples;
use testkit::documents::check_file;
use testkit::judge::{ask, recordings};
use testkit::mistakes::recording_folders;
use testkit::server::root;

use crate::tidy::{SOURCES, rust_files};

/// The lists of codes by their files.
fn lists() -> [(&'static str, Vec<&'static str>); 3] {
    [
        ("shared/src/analysis/ask/findings/code.rs", FindingCode::ALL.map(FindingCode::name).to_vec()),
        ("shared/src/api/error.rs", ErrorCode::ALL.map(ErrorCode::name).to_vec()),
        ("shared/src/api/job.rs", JobErrorCode::ALL.map(JobErrorCode::name).to_vec()),
    ]
}

/// A code that is also a name of something else, such as of a job's outcome.
const AMBIGUOUS: [&str; 1] = ["out-of-memory"];

fn sources() -> Vec<(String, String)> {
    SOURCES.iter().flat_map(|folder| rust_files(folder)).collect()
}
/// A code of one word, such as `peak`, is an ordinary word elsewhere and is not searched for.
#[test]
fn codes_are_written_in_their_lists_only() {
    let lists = lists();
    let names = lists.iter().flat_map(|(_, names)| names);
    let searched = names.filter(|name| name.contains(['-', '_']) && !AMBIGUOUS.contains(name));
    let literals: BTreeSet<String> = searched.map(|name| format!("\"{name}\"")).collect();
    assert!(literals.len() > 40, "{literals:?}");
    let mut wrong = Vec::new();
    for (file, text) in sources().iter().filter(|(file, _)| lists.iter().all(|(list, _)| list != file)) {
        for (line, code) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            let found = literals.iter().filter(|literal| code.contains(literal.as_str()));
            wrong.extend(found.map(|literal| format!("{file}:{}: {literal}", line + 1)));
        }
    }
    assert!(wrong.is_empty(), "write the names of the list instead:\n{}", wrong.join("\n"));
}

/// Compares the table of findings with the list; `UPDATE=1` writes it.
#[test]
fn the_table_of_findings_is_the_list() {
    let mut text = "# Findings\n\n\
        Each finding of `snapscope diagnose`, the page and `GET /api/v1/shares/{token}/findings` has one of these \
        codes:\n\n| code | meaning |\n|---|---|\n"
        .to_owned();
    for code in FindingCode::ALL {
        text += &format!("| `{code}` | {} |\n", code.meaning());
    }
    check_file("shared/src/analysis/ask/findings/README.md", &text);
}

/// A finding that neither a recording shows nor a test names could disappear unnoticed.
#[test]
fn every_finding_is_shown_or_tested() {
    let files =
        recordings(&recording_folders()).expect("folders").into_iter().chain(samples().into_iter().map(|one| one.path));
    let seen: BTreeSet<FindingCode> = files.flat_map(|path| ask(&path).expect("a recording").codes).collect();
    const TESTS: [&str; 6] = [
        "findings/tests/",
        "cli/host.rs",
        "cli/log.rs",
        "engine/report/tests.rs",
        "nccl/report.rs",
        "printed/report/tests.rs",
    ];
    let is_test = |file: &str| TESTS.iter().any(|part| file.contains(part));
    let tests = sources().into_iter().filter(|(file, _)| is_test(file));
    let after_code = |text: String| text.rsplit("\n#[cfg(test)]\n").next().unwrap_or_default().to_owned();
    let tests: String = tests.map(|(_, text)| after_code(text)).collect();
    let texts = ["tests/mistakes/host/truth.json", "tests/data/logs/host-errors.txt"];
    let texts = texts.map(|file| fs::read_to_string(root().join(file)).expect("a text with names of findings"));
    let is_tested = |code: &FindingCode| {
        let is_named = |form: String| texts.iter().any(|text| text.contains(&form));
        tests.contains(&format!("FindingCode::{code:?}"))
            || is_named(format!("\"{}\"", code.name()))
            || is_named(format!("{}: ", code.name()))
    };
    let is_unknown = |code: &FindingCode| !seen.contains(code) && !is_tested(code);
    let unknown: Vec<FindingCode> = FindingCode::ALL.into_iter().filter(is_unknown).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
