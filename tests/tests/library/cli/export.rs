//! Tests `export`: snapshots, tables, pictures and reports as files.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::Value;
use testkit::server::snapscope;

use crate::cli::command::{check_refusal, json, run, stored};

#[test]
fn an_export_is_the_same_snapshot_and_names_nobody_where_it_should_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let file = stored("torch2.10-train-annotated.pickle.gz");
    let figures = |file: &str| json(&["inspect", "--json", file])["devices"].clone();

    let (plain, clean) = (out("plain.pickle"), out("clean.pickle.gz"));
    assert!(run(&["export", &file, "--to", "pickle", "-o", &plain]).status.success());
    let said = run(&["export", &file, "--to", "pickle", "--sanitize", "--drop-annotations", "-o", &clean]);
    let said = String::from_utf8(said.stdout).expect("UTF-8");
    for part in [&clean, "Paths shortened: ", " → ", "Annotations removed: ", "The copy still has ", "--list-texts"] {
        assert!(said.contains(part), "{part:?} in {said}");
    }
    let listed = run(&["export", &file, "--to", "pickle", "--sanitize", "--list-texts", "-o", &out("listed.pickle")]);
    let listed = String::from_utf8(listed.stdout).expect("UTF-8");
    assert!(listed.contains("\npackage file\tsite-packages/torch/"), "{listed}");
    assert_eq!(figures(&plain), figures(&file));
    assert_eq!(figures(&clean), figures(&file));
    assert_eq!(json(&["inspect", "--json", &clean])["annotations"], 0);
    assert_eq!(json(&["inspect", "--json", &clean])["format"]["container"], "gzip");
    let folder = tempfile::tempdir().expect("a folder");
    let file = stored("torch2.10-train-annotated.pickle.gz");
    for (umask, mode) in [("022", 0o644), ("027", 0o640), ("077", 0o600)] {
        let out = folder.path().join(umask);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("umask {umask} && exec \"$@\""), "sh"]).arg(snapscope());
        let exported = shell.args(["export", &file, "--to", "pickle", "-o"]).arg(&out).output().expect("a shell");
        assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
        let permissions = std::fs::metadata(&out).expect("the file").permissions();
        assert_eq!(permissions.mode() & 0o777, mode, "umask {umask}");
    }
}

#[track_caller]
fn exported(file: &str, form: &str, options: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out").to_string_lossy().into_owned();
    let output = run(&[&["export", file, "--to", form, "-o", out.as_str()], options].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(&out).expect("the file")
}

fn exported_text(file: &str, form: &str, options: &[&str]) -> String {
    String::from_utf8(exported(file, form, options)).expect("UTF-8")
}

fn exported_json(file: &str, form: &str, options: &[&str]) -> Value {
    serde_json::from_slice(&exported(file, form, options)).expect("one JSON document")
}

#[test]
fn tables_profiles_timelines_pictures_and_reports_say_what_the_commands_say() {
    let file = stored("virtual-py-gpt2-oom-t4.pickle.gz");
    let bytes = |document: &Value| -> u64 {
        document["rows"].as_array().expect("rows").iter().map(|row| row["bytes"].as_u64().expect("bytes")).sum()
    };
    let peak = json(&["peak", "--json", &file])["live_bytes"].as_u64();
    assert_eq!(Some(bytes(&exported_json(&file, "json", &[]))), peak);
    assert_eq!(Some(bytes(&exported_json(&file, "json", &["--table", "categories"]))), peak);
    let before = json(&["peak", "--json", "--at", "100", &file])["live_bytes"].as_u64();
    assert_eq!(Some(bytes(&exported_json(&file, "json", &["--at", "100"]))), before);
    let codes = |document: &Value, list: &str| -> Vec<String> {
        let rows = document[list].as_array().expect("a list");
        rows.iter().map(|row| row["code"].as_str().expect("a code").to_owned()).collect()
    };
    let diagnosis: Value =
        serde_json::from_slice(&run(&["diagnose", "--json", &file]).stdout).expect("one JSON document");
    let findings = exported_json(&file, "json", &["--table", "findings"]);
    assert_eq!(codes(&findings, "rows"), codes(&diagnosis, "findings"));
    let events = exported_text(&file, "csv", &["--table", "events"]);
    assert_eq!(events.matches("\r\n").count(), 7_646 + 1);
    let profile = exported_json(&file, "speedscope", &[]);
    let weights = profile["profiles"][0]["weights"].as_array().expect("weights");
    assert_eq!(Some(weights.iter().filter_map(Value::as_u64).sum::<u64>()), peak);
    let trace = exported_json(&file, "perfetto", &[]);
    let counters =
        trace["traceEvents"].as_array().expect("events").iter().filter(|event| event["name"] == "live bytes");
    assert_eq!(counters.filter_map(|event| event["args"]["bytes"].as_u64()).max(), peak);
    let svg = exported_text(&file, "svg", &["--width", "900", "--height", "500"]);
    for part in ["<svg ", "width=\"900\"", "virtual-py-gpt2-oom-t4.pickle.gz · GPU 0", "peak live 13.1 GiB", "</svg>"]
    {
        assert!(svg.contains(part), "{part}");
    }
    assert_ne!(svg, exported_text(&file, "svg", &["--width", "900", "--height", "500", "--dark"]));
    let png = exported(&file, "png", &["--width", "900", "--height", "500"]);
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert_eq!(png[16..24], [0, 0, 900_u16.to_be_bytes()[0], 900_u16.to_be_bytes()[1], 0, 0, 1, 244]);
    let report = exported_text(&file, "html", &[]);
    for part in ["Out of memory: tried to allocate 1.53 GiB", "13.1 GiB", "<h2>Live memory at the peak</h2>", "</html>"]
    {
        assert!(report.contains(part), "{part}");
    }
}

#[test]
fn pictures_of_a_moment_are_of_its_bytes_and_others_are_refused() {
    let oom = stored("virtual-py-gpt2-oom-t4.pickle.gz");
    let live = exported_text(&oom, "svg", &["--picture", "flame"]);
    for part in ["virtual-py-gpt2-oom-t4.pickle.gz · GPU 0 · live memory by stack", "13.1 GiB live at the peak", "All"]
    {
        assert!(live.contains(part), "{part}");
    }
    let start = exported_text(&oom, "svg", &["--picture", "flame", "--at", "-1", "--dark", "--height", "300"]);
    assert!(start.contains(" live before the first event") && start.contains("height=\"300\""));
    let segments = exported_text(&oom, "svg", &["--picture", "segments", "--width", "900"]);
    for part in ["GPU 0 · segments", " reserved at the peak", "Large blocks · ", "width=\"900\""] {
        assert!(segments.contains(part), "{part}");
    }
    // A snapshot without events still has its blocks.
    for file in [oom, stored("torch2.1-no-trace.pickle.gz")] {
        for picture in ["flame", "segments"] {
            let png = exported(&file, "png", &["--picture", picture, "--width", "900", "--height", "500"]);
            assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
            assert_eq!(png[16..24], [0, 0, 3, 132, 0, 0, 1, 244], "900 and 500 pixels");
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out").to_string_lossy().into_owned();
    let file = stored("made-protocol2.pickle");
    let refused = |to: &str, options: &[&str], words: &[&str]| {
        check_refusal(&[&["export", &file, "--to", to, "-o", &out], options].concat(), words);
    };
    refused("svg", &["--picture", "sandwich"], &["sandwich", "timeline", "flame", "segments"]);
    refused("csv", &["--picture", "flame"], &["--picture does not apply to --to csv", "hint:"]);
    refused("png", &["--picture", "flame", "--axis", "time"], &["--axis does not apply to --picture flame"]);
    refused("png", &["--at", "3"], &["--at does not apply to --picture timeline"]);
    refused("svg", &["--picture", "segments", "--at", "999999"], &["999999", "hint:"]);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn a_clean_export_has_no_names_and_one_that_cannot_be_written_leaves_nothing() {
    const PERSON: &str = "brian";
    // Recorded on a person's machine: paths contain a name.
    let file = stored("torch2.10-train-annotated.pickle.gz");
    assert!(exported_text(&file, "csv", &["--table", "frames"]).contains(PERSON));
    assert!(!exported_text(&file, "csv", &["--table", "frames", "--sanitize"]).contains(PERSON));
    for form in ["svg", "csv", "json", "perfetto", "speedscope", "html"] {
        let clean = exported_text(&file, form, &["--sanitize"]);
        assert!(!clean.contains(PERSON) && !clean.contains("torch2.10-train-annotated"), "{form}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let inside = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let file = stored("made-protocol2.pickle");
    check_refusal(&["export", &file, "--to", "pickle", "-o", &inside("no/out")], &["no/out", "hint:"]);
    check_refusal(&["export", &file, "--to", "gif", "-o", &inside("out")], &["gif", "svg", "pickle"]);
    check_refusal(&["export", &file, "--to", "pickle", "--dark", "-o", &inside("out")], &["--dark", "hint:"]);
    check_refusal(&["export", &file, "--to", "csv", "--at", "999999", "-o", &inside("out")], &["999999", "hint:"]);
    check_refusal(&["export", &file, "--to", "pickle", "--drop-name", "ada", "-o", &inside("out")], &["--sanitize"]);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}
