//! Tests `diff` and `ranks`: two moments, and the processes of one job.

use std::path::Path;

use serde_json::Value;
use testkit::corpus::samples;

use crate::cli::command::{check_refusal, json, run, stored};

#[test]
fn a_snapshot_differs_from_itself_nowhere() {
    for sample in samples().into_iter().filter(|sample| sample.name != "made-no-gpu.pickle") {
        let file = sample.path.to_string_lossy();
        let document = json(&["diff", "--json", &file, &file]);
        assert_eq!(document["rows"].as_array().map(Vec::len), Some(0), "{}", sample.name);
        assert_eq!(document["equal_bytes"], document["a"]["live_bytes"], "{}", sample.name);
    }
}

#[test]
fn deltas_add_up_to_the_difference_of_live_bytes() {
    let (gpt2, resnet) =
        (stored("torch2.15-gpt2-3steps-py311.pickle.gz"), stored("virtual-py-resnet50-h100.pickle.gz"));
    let sides: [&[&str]; 4] = [
        &[&gpt2, &resnet],
        &[&gpt2, &gpt2, "--step-a", "1", "--step-b", "3"],
        &[&gpt2, &gpt2, "--at-a", "-1"],
        &[&resnet, &resnet, "--at-a", "100", "--at-b", "20"],
    ];
    for sides in sides {
        let document = json(&[&["diff", "--json", "--top", "5"], sides].concat());
        let sum = |rows: &str| -> i64 {
            let rows = document[rows].as_array().expect("rows");
            rows.iter().filter_map(|row| row["delta_bytes"].as_i64()).sum()
        };
        let live = |side: &str| document[side]["live_bytes"].as_i64().expect("a number");
        let delta = live("b") - live("a");
        assert_eq!(document["delta_bytes"].as_i64(), Some(delta), "{sides:?}");
        assert_eq!(sum("rows") + document["other_delta_bytes"].as_i64().expect("a number"), delta, "{sides:?}");
        assert_eq!((sum("by_category"), sum("by_module")), (delta, delta), "{sides:?}");
    }
}

#[test]
fn the_peak_of_a_side_is_that_of_peak_and_other_moments_have_to_be_there() {
    let file = stored("torch2.15-gpt2-3steps-py311.pickle.gz");
    let (peak, diff) = (json(&["peak", "--json", &file]), json(&["diff", "--json", &file, &file, "--at-a", "-1"]));
    assert_eq!((&diff["b"]["live_bytes"], &diff["b"]["event"]), (&peak["live_bytes"], &peak["event"]));
    assert_eq!((&diff["b"]["allocations"], &diff["a"]["event"]), (&peak["allocations"], &Value::from(-1)));
    check_refusal(&["diff", &file, &file, "--step-b", "0"], &["no step 0", "1 to"]);
    check_refusal(&["diff", &file, &file, "--at-a", "-2"], &["no event -2"]);
    check_refusal(&["diff", &file, &file, "--at-a", "1", "--step-a", "1"], &["--step-a"]);
    check_refusal(&["diff", &file, "no/such/file"], &["no/such/file", "hint:"]);
}

#[test]
fn devices_of_one_process_are_ranks_with_an_outlier() {
    let file = stored("virtual-py-dataparallel4.pickle.gz");
    let (document, inspection) = (json(&["ranks", "--json", &file]), json(&["inspect", "--json", &file]));
    let ranks = document["ranks"].as_array().expect("ranks");
    for (rank, device) in ranks.iter().zip(inspection["devices"].as_array().expect("devices")) {
        for figure in ["device", "peak_live_bytes", "peak_event", "peak_reserved_bytes"] {
            assert_eq!(rank[figure], device[figure], "{figure} of {}", rank["rank"]);
        }
        let parts = rank["peak_by_category"].as_object().expect("categories").values();
        assert_eq!(parts.filter_map(Value::as_u64).sum::<u64>(), rank["peak_live_bytes"].as_u64().expect("a number"));
    }
    let outlier = &document["outliers"][0];
    assert_eq!((outlier["rank"].as_u64(), outlier["kind"].as_str()), (Some(0), Some("peak")));
    assert_eq!((ranks.len(), document["outliers"].as_array().map(Vec::len)), (4, Some(1)));
}

/// Writes a Git LFS pointer where a snapshot is expected.
fn pointer(folder: &Path, name: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n").expect("room");
    path.to_string_lossy().into_owned()
}

#[test]
fn an_unreadable_file_hides_none_of_the_good_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let (bad, worse) = (pointer(folder.path(), "rank1.pickle"), pointer(folder.path(), "rank3.pickle"));
    let good = stored("virtual-py-resnet50-h100.pickle.gz");
    for command in ["diagnose", "ranks"] {
        let output = run(&[command, "--json", &bad, &good, &worse]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let document: Value = serde_json::from_slice(&output.stdout).expect("the answer for the good one");
        assert!(document.to_string().contains("resnet50"), "{command}: {document}");
        let said = String::from_utf8_lossy(&output.stderr);
        for part in ["rank1.pickle: This is a Git LFS pointer", "rank3.pickle: This is", "hint: Run git lfs pull"] {
            assert!(said.contains(part), "{command}: {part:?} in {said}");
        }
    }
    for command in ["diagnose", "ranks", "diff"] {
        check_refusal(&[command, &bad, &worse], &["rank1.pickle: ", "rank3.pickle: "]);
    }
}

#[test]
fn ranks_of_a_folder_are_told_by_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    check_refusal(&["ranks", &folder.path().to_string_lossy()], &["has no snapshots", "hint:"]);
    let copy = |from: &str, to: &str| std::fs::copy(stored(from), folder.path().join(to)).expect("room");
    copy("torch2.15-basic-py311.pickle.gz", "job_rank10.pickle.gz");
    copy("torch2.15-basic-py311.pickle.gz", "job_rank2.pickle.gz");
    copy("virtual-py-resnet50-h100.pickle.gz", "job_rank0.pickle.gz");
    let document = json(&["ranks", "--json", &folder.path().to_string_lossy()]);
    let ranks: Vec<_> = document["ranks"].as_array().expect("ranks").iter().map(|row| row["rank"].as_u64()).collect();
    assert_eq!(ranks, [Some(0), Some(2), Some(10)]);
    assert_eq!(document["outliers"][0]["rank"], 0);
}
