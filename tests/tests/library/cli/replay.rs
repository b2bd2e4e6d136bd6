//! Tests `replay`: as recorded, under other settings, and written as a snapshot.

use serde_json::Value;

use crate::cli::command::{check_refusal, json, run, stored};

const OOM: &str = "virtual-py-gpt2-oom-t4.pickle.gz";

#[test]
fn a_replay_as_recorded_is_the_recording_with_its_fragmentation_and_collections() {
    let document = json(&["replay", "--json", "--verify", &stored(OOM)]);
    let verify = &document["verify"];
    assert_eq!(verify["equal"], verify["recorded"]);
    assert_eq!(document["ooms"][0]["event"], 7643);
    let inspection = json(&["inspect", "--json", &stored(OOM)]);
    assert_eq!(document["peak_reserved_bytes"], inspection["devices"][0]["peak_reserved_bytes"]);
    let settings = "garbage_collection_threshold:0.5,per_process_memory_fraction:0.98";
    let document = json(&["replay", "--json", &stored(OOM), "--settings", settings]);
    for run in [&document, &document["recorded"]] {
        let bytes = |key: &str| run[key].as_f64().expect("bytes");
        let share = 1.0 - bytes("peak_live_bytes") / bytes("peak_reserved_bytes");
        assert!((run["fragmentation"].as_f64().expect("a share") - share).abs() < 1e-9, "{run}");
    }
    let collections = document["collections"].as_u64().expect("a count");
    assert!(collections > 0, "{document}");
    let text = run(&["replay", &stored(OOM), "--settings", settings]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    let line = text.lines().find(|line| line.starts_with("Garbage collections")).unwrap_or_default();
    assert!(line.ends_with(&format!(" {collections}")) && text.contains("\nFragmentation "), "{text}");
    let plain = run(&["replay", &stored(OOM)]);
    assert!(!String::from_utf8_lossy(&plain.stdout).contains("Garbage"));
}

#[test]
fn settings_that_are_not_modelled_are_refused_and_a_sweep_finds_what_fits() {
    check_refusal(&["replay", &stored(OOM), "--settings", "backend:cudaMallocAsync"], &["backend:cudaMallocAsync"]);
    let document = json(&["replay", "--json", "--sweep", &stored(OOM), "--capacity", "h100-80gb"]);
    let sweep = &document["sweep"];
    let trials = sweep["trials"].as_array().expect("trials");
    let least = trials.iter().filter(|trial| trial["ooms"] == 0).map(|trial| &trial["peak_reserved_bytes"]);
    let least = least.filter_map(Value::as_u64).min();
    let best = trials.iter().find(|trial| trial["settings"] == sweep["best"]).expect("the best was tried");
    assert_eq!(best["peak_reserved_bytes"].as_u64(), least);
    assert!(sweep["smallest_card"].is_string(), "{sweep}");
    assert!(sweep["batch_factor"].as_f64().is_some_and(|factor| factor > 1.0), "{sweep}");
    let text = run(&["replay", "--sweep", &stored(OOM)]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    for part in ["default settings (as recorded)", "expandable_segments:True", "Smallest GPU that fits: "] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_replay_is_written_as_a_snapshot() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = folder.path().join("replay.pickle.gz").to_string_lossy().into_owned();
    let settings = "expandable_segments:True";
    let document = json(&["replay", "--json", &stored(OOM), "-o", &output, "--settings", settings]);
    let inspection = json(&["inspect", "--json", &output]);
    let device = &inspection["devices"][0];
    for key in ["peak_live_bytes", "peak_reserved_bytes"] {
        assert_eq!(document[key], device[key], "{key}");
    }
    let again = json(&["replay", "--json", "--verify", &output]);
    assert_eq!(again["verify"]["equal"], again["verify"]["recorded"]);
}
