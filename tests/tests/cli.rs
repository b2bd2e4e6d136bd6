//! The binary `snapscope` at a terminal: what it prints, where, and its exit status.

use std::process::{Command, Output};

use serde_json::Value;
use testkit::corpus::samples;
use testkit::server::snapscope;

fn run(arguments: &[&str]) -> Output {
    Command::new(snapscope()).args(arguments).output().expect("the binary to start")
}

#[track_caller]
fn file(name: &str) -> String {
    let sample = samples().into_iter().find(|sample| sample.name == name).expect(name);
    sample.path.to_string_lossy().into_owned()
}

#[track_caller]
fn json(arguments: &[&str]) -> Value {
    let output = run(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

#[track_caller]
fn check_refusal(arguments: &[&str], parts: &[&str]) {
    let output = run(arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(output.stdout.is_empty(), "nothing on standard output");
    for part in parts {
        assert!(text.contains(part), "{part:?} in {text}");
    }
}

#[test]
fn bad_input_is_one_sentence_and_a_hint() {
    let broken = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(broken.path(), b"\x80\x04}\x94(\x8c\x08seg").expect("room");
    let broken = broken.path().to_string_lossy().into_owned();
    check_refusal(&["inspect", &broken], &["error:", "SHORT_BINUNICODE", "at byte 5", "hint:", "cut off"]);
    check_refusal(&["peak", &broken], &["error:", "at byte 5"]);
    check_refusal(&["inspect", "no/such/file"], &["no/such/file", "hint:"]);
    check_refusal(&["inspect", "."], &["error: .:"]);
}

#[test]
fn a_device_or_event_that_is_not_there_names_those_that_are() {
    let file = file("virtual-py-dataparallel4.pickle.gz");
    check_refusal(&["peak", &file, "--device", "7"], &["no device 7", "0, 1, 2, 3"]);
    check_refusal(&["peak", &file, "--device", "1", "--at", "151"], &["no event 151", "to 150"]);
    check_refusal(&["peak", &file, "--at", "-2"], &["no event -2"]);
}

#[test]
fn the_groups_of_the_peak_add_up() {
    for sample in samples() {
        if sample.name == "made-no-gpu.pickle" {
            check_refusal(&["peak", &sample.path.to_string_lossy()], &["no device", "never initialised"]);
            continue;
        }
        let document = json(&["peak", "--json", "--top", "3", &sample.path.to_string_lossy()]);
        let sum =
            |key: &str| document["groups"].as_array().map(|rows| rows.iter().filter_map(|row| row[key].as_u64()).sum());
        let shown: Option<u64> = sum("bytes");
        let total = shown.unwrap_or(0) + document["other_bytes"].as_u64().expect("a number");
        assert_eq!(Some(total), document["live_bytes"].as_u64(), "{}", sample.name);
    }
}

#[test]
fn the_peak_of_a_device_is_that_of_inspect() {
    let file = file("virtual-py-dataparallel4.pickle.gz");
    let inspection = json(&["inspect", "--json", &file]);
    for device in inspection["devices"].as_array().expect("devices") {
        let index = device["device"].to_string();
        let peak = json(&["peak", "--json", &file, "--device", &index]);
        assert_eq!(peak["live_bytes"], device["peak_live_bytes"], "device {index}");
        assert_eq!(peak["event"], device["peak_event"], "device {index}");
    }
}

#[test]
fn groups_of_every_kind_have_the_bytes_of_the_peak() {
    let file = file("virtual-py-hf-gpt2-h100.pickle.gz");
    let peak = |by: &str| json(&["peak", "--json", "--top", "1000000", "--by", by, &file]);
    for by in ["stack", "module", "category", "stream", "pool", "size"] {
        let document = peak(by);
        let groups = document["groups"].as_array().expect("groups");
        let bytes: u64 = groups.iter().filter_map(|group| group["bytes"].as_u64()).sum();
        assert_eq!(Some(bytes), document["live_bytes"].as_u64(), "{by}");
        assert_eq!((document["by"].as_str(), &document["bytes"]), (Some(by), &document["live_bytes"]));
    }
    // What every stack has in common has all that has a stack.
    let by_frame = peak("frame");
    assert!(by_frame["groups"][0]["bytes"].as_u64() >= peak("stack")["groups"][0]["bytes"].as_u64());
}

#[test]
fn a_filter_and_a_range_say_what_is_summed_up() {
    let file = file("virtual-py-hf-gpt2-h100.pickle.gz");
    let all = json(&["peak", "--json", "--from", "0", &file]);
    let parts = ["born-and-died", "born-and-kept", "survived"];
    let sums = parts.map(|part| json(&["peak", "--json", "--from", "0", "--part", part, &file])["bytes"].as_u64());
    assert_eq!(sums.into_iter().flatten().sum::<u64>(), all["bytes"].as_u64().expect("a number"));
    assert_eq!(all["range"]["part"], "any");

    let found = json(&["peak", "--json", "--filter", "^forward$", "--regex", &file]);
    let plain = json(&["peak", "--json", "--filter", "forward", &file]);
    assert!(
        found["bytes"].as_u64() <= plain["bytes"].as_u64() && plain["bytes"].as_u64() <= plain["live_bytes"].as_u64()
    );
    assert_eq!(found["filter"], "^forward$");
    check_refusal(&["peak", "--filter", "(", "--regex", &file], &["--filter (", "no regular expression", "--regex"]);
    check_refusal(&["peak", "--part", "born", &file], &["--part needs a range", "--from"]);
    check_refusal(&["peak", "--from", "9", "--to", "3", &file], &["--to is before --from"]);
    check_refusal(&["peak", "--to", "99999999", &file], &["no event 99999999"]);
}

#[test]
fn the_state_before_the_first_event_is_a_moment_too() {
    let document = json(&["peak", "--json", "--at", "-1", &file("virtual-py-hf-gpt2-h100.pickle.gz")]);
    assert_eq!(document["live_bytes"], 497_759_232);
    assert_eq!(document["event"], -1);
}

#[test]
fn an_export_is_the_same_snapshot_and_names_nobody_where_it_should_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let file = file("torch2.10-train-annotated.pickle.gz");
    let figures = |file: &str| json(&["inspect", "--json", file])["devices"].clone();

    let (plain, clean) = (out("plain.pickle"), out("clean.pickle.gz"));
    assert!(run(&["export", &file, "--to", "pickle", "-o", &plain]).status.success());
    let said = run(&["export", &file, "--to", "pickle", "--sanitize", "--drop-annotations", "-o", &clean]);
    let said = String::from_utf8(said.stdout).expect("UTF-8");
    for part in [&clean, "Paths cut: ", " → ", "Annotations left out: "] {
        assert!(said.contains(part), "{part:?} in {said}");
    }
    assert_eq!(figures(&plain), figures(&file));
    assert_eq!(figures(&clean), figures(&file));
    assert_eq!(json(&["inspect", "--json", &clean])["annotations"], 0);
    assert_eq!(json(&["inspect", "--json", &clean])["format"]["container"], "gzip");
}

/// Writes a file in another form and returns what is in it.
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
fn tables_say_what_the_commands_say() {
    let file = file("virtual-py-gpt2-oom-t4.pickle.gz");
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
}

#[test]
fn profiles_and_timelines_hold_the_peak() {
    let file = file("virtual-py-gpt2-oom-t4.pickle.gz");
    let peak = json(&["peak", "--json", &file])["live_bytes"].as_u64();
    let profile = exported_json(&file, "speedscope", &[]);
    let weights = profile["profiles"][0]["weights"].as_array().expect("weights");
    assert_eq!(Some(weights.iter().filter_map(Value::as_u64).sum::<u64>()), peak);
    let trace = exported_json(&file, "perfetto", &[]);
    let counters =
        trace["traceEvents"].as_array().expect("events").iter().filter(|event| event["name"] == "live bytes");
    assert_eq!(counters.filter_map(|event| event["args"]["bytes"].as_u64()).max(), peak);
}

#[test]
fn pictures_and_reports_are_whole_files() {
    let file = file("virtual-py-gpt2-oom-t4.pickle.gz");
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
    for part in ["Out of memory at event 7,643", "13.1 GiB", "<h2>What holds the peak</h2>", "</html>"] {
        assert!(report.contains(part), "{part}");
    }
}

#[test]
fn pictures_of_a_moment_are_of_its_bytes() {
    let oom = file("virtual-py-gpt2-oom-t4.pickle.gz");
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
    // A snapshot without events has its blocks.
    for file in [oom, file("torch2.1-no-trace.pickle.gz")] {
        for picture in ["flame", "segments"] {
            let png = exported(&file, "png", &["--picture", picture, "--width", "900", "--height", "500"]);
            assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
            assert_eq!(png[16..24], [0, 0, 3, 132, 0, 0, 1, 244], "900 and 500 pixels");
        }
    }
}

#[test]
fn a_picture_that_there_is_not_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out").to_string_lossy().into_owned();
    let file = file("made-protocol2.pickle");
    let refused = |to: &str, options: &[&str], words: &[&str]| {
        check_refusal(&[&["export", &file, "--to", to, "-o", &out], options].concat(), words);
    };
    refused("svg", &["--picture", "sandwich"], &["sandwich", "timeline", "flame", "segments"]);
    refused("csv", &["--picture", "flame"], &["--picture says nothing about a file of csv", "hint:"]);
    refused("png", &["--picture", "flame", "--axis", "time"], &["--axis says nothing about", "--picture flame"]);
    refused("png", &["--at", "3"], &["--at says nothing about", "--picture timeline"]);
    refused("svg", &["--picture", "segments", "--at", "999999"], &["999999", "hint:"]);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn a_clean_export_of_any_form_has_no_names() {
    const PERSON: &str = "brian";
    // Recorded at somebody's desk: paths name a person.
    let file = file("torch2.10-train-annotated.pickle.gz");
    assert!(exported_text(&file, "csv", &["--table", "frames"]).contains(PERSON));
    assert!(!exported_text(&file, "csv", &["--table", "frames", "--sanitize"]).contains(PERSON));
    for form in ["svg", "csv", "json", "perfetto", "speedscope", "html"] {
        let clean = exported_text(&file, form, &["--sanitize"]);
        assert!(!clean.contains(PERSON) && !clean.contains("torch2.10-train-annotated"), "{form}");
    }
}

#[test]
fn an_export_that_cannot_be_written_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let file = file("made-protocol2.pickle");
    check_refusal(&["export", &file, "--to", "pickle", "-o", &inside("no/out")], &["no/out", "hint:"]);
    check_refusal(&["export", &file, "--to", "gif", "-o", &inside("out")], &["gif", "svg", "pickle"]);
    check_refusal(&["export", &file, "--to", "pickle", "--dark", "-o", &inside("out")], &["--dark", "hint:"]);
    check_refusal(&["export", &file, "--to", "csv", "--at", "999999", "-o", &inside("out")], &["999999", "hint:"]);
    check_refusal(&["export", &file, "--to", "pickle", "--drop-name", "ada", "-o", &inside("out")], &["--sanitize"]);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn the_report_for_people_says_the_figures() {
    let output = run(&["inspect", &file("virtual-py-gpt2-oom-t4.pickle.gz")]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    for part in ["GPU 0 · 7,646 events", "peak live", "13.1 GiB", "after event 7,630", "█", "ran out of memory once"]
    {
        assert!(text.contains(part), "{part:?} in {text}");
    }
}

#[test]
fn a_diagnosis_has_an_exit_status_for_scripts() {
    let file = file("virtual-py-hf-gpt2-h100.pickle.gz");
    let status = |options: &[&str]| run(&[&["diagnose", file.as_str()], options].concat()).status.code();
    assert_eq!(status(&[]), Some(0));
    assert_eq!(status(&["--max-peak", "80GiB"]), Some(0));
    assert_eq!(status(&["--max-peak", "1GiB"]), Some(1));
    check_refusal(&["diagnose", &file, "no/such/file"], &["no/such/file", "hint:"]);
}

#[test]
fn a_diagnosis_says_what_was_asked_for_when_memory_was_out() {
    let file = file("virtual-py-gpt2-oom-t4.pickle.gz");
    let output = run(&["diagnose", "--json", &file]);
    assert_eq!(output.status.code(), Some(1));
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let finding = &document["findings"][0];
    assert_eq!((finding["code"].as_str(), finding["severity"].as_str()), (Some("out-of-memory"), Some("error")));
    assert_eq!((finding["bytes"].as_u64(), finding["device"].as_i64()), (Some(1_646_821_376), Some(0)));
    assert_eq!(finding["evidence"]["events"][0], 7643);
    let page = String::from_utf8(run(&["diagnose", &file]).stdout).expect("UTF-8");
    for part in
        ["error on GPU 0: Out of memory at event 7,643", "1009 MiB free on the device", "The peak of 13.1 GiB is"]
    {
        assert!(page.contains(part), "{part:?} in {page}");
    }
}

#[test]
fn a_diagnosis_tells_growth_apart() {
    let file = file("torch2.15-gpt2-3steps-py311.pickle.gz");
    let document = json(&["diagnose", "--json", &file]);
    let growth = &document["growth"][0];
    assert_eq!((growth["steps"].as_u64(), growth["bytes_per_step"].as_u64()), (Some(3), Some(0)));
    assert!(growth["until_full"].is_null(), "nothing grows");
    let classes = growth["classes"].as_array().expect("classes");
    let state = classes.iter().find(|row| row["class"] == "optimizer-state").expect("AdamW has state");
    // As CPython's pickle adds it up: 298 allocations below `torch/optim` are alive at the end.
    assert_eq!((state["end_count"].as_u64(), state["end_bytes"].as_u64()), (Some(298), Some(1_304_875_008)));
    let groups = growth["groups"].as_array().expect("groups");
    let sum: u64 = groups.iter().filter_map(|row| row["end_bytes"].as_u64()).sum();
    assert_eq!(Some(sum), classes.iter().map(|row| row["end_bytes"].as_u64()).sum());
    let page = String::from_utf8(run(&["diagnose", &file]).stdout).expect("UTF-8");
    assert!(page.contains("What stays on GPU 0 after 3 steps") && page.contains("optimizer state"), "{page}");
}

#[test]
fn what_others_have_of_a_card_is_told_where_it_is_named() {
    let file = file("virtual-py-gpt2-oom-t4.pickle.gz");
    let outside = |options: &[&str]| {
        let output = run(&[&["diagnose", "--json", file.as_str()], options].concat());
        let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
        let rows = document["findings"].as_array().expect("findings").clone();
        rows.into_iter().find(|row| row["code"] == "outside-pytorch").and_then(|row| row["bytes"].as_u64())
    };
    let (card, reserved, free) = (14_930 << 20, 13_802 << 20, 1_057_554_432);
    assert_eq!(outside(&["--capacity", "t4-16gb"]), Some(card - reserved - free));
    assert_eq!((outside(&[]), outside(&["--capacity", "12GiB"])), (None, None));
}

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
    let (gpt2, resnet) = (file("torch2.15-gpt2-3steps-py311.pickle.gz"), file("virtual-py-resnet50-h100.pickle.gz"));
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
fn the_peak_of_a_side_is_that_of_peak() {
    let file = file("torch2.15-gpt2-3steps-py311.pickle.gz");
    let (peak, diff) = (json(&["peak", "--json", &file]), json(&["diff", "--json", &file, &file, "--at-a", "-1"]));
    assert_eq!((&diff["b"]["live_bytes"], &diff["b"]["event"]), (&peak["live_bytes"], &peak["event"]));
    assert_eq!((&diff["b"]["allocations"], &diff["a"]["event"]), (&peak["allocations"], &Value::from(-1)));
}

#[test]
fn steps_and_events_of_a_difference_have_to_be_there() {
    let file = file("torch2.15-gpt2-3steps-py311.pickle.gz");
    check_refusal(&["diff", &file, &file, "--step-b", "0"], &["no step 0", "1 to"]);
    check_refusal(&["diff", &file, &file, "--at-a", "-2"], &["no event -2"]);
    check_refusal(&["diff", &file, &file, "--at-a", "1", "--step-a", "1"], &["--step-a"]);
    check_refusal(&["diff", &file, "no/such/file"], &["no/such/file", "hint:"]);
}

#[test]
fn devices_of_one_process_are_ranks_with_an_outlier() {
    let file = file("virtual-py-dataparallel4.pickle.gz");
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

#[test]
fn ranks_of_a_folder_are_told_by_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    check_refusal(&["ranks", &folder.path().to_string_lossy()], &["has no snapshots", "hint:"]);
    let copy = |from: &str, to: &str| std::fs::copy(file(from), folder.path().join(to)).expect("room");
    copy("torch2.15-basic-py311.pickle.gz", "job_rank10.pickle.gz");
    copy("torch2.15-basic-py311.pickle.gz", "job_rank2.pickle.gz");
    copy("virtual-py-resnet50-h100.pickle.gz", "job_rank0.pickle.gz");
    let document = json(&["ranks", "--json", &folder.path().to_string_lossy()]);
    let ranks: Vec<_> = document["ranks"].as_array().expect("ranks").iter().map(|row| row["rank"].as_u64()).collect();
    assert_eq!(ranks, [Some(0), Some(2), Some(10)]);
    assert_eq!(document["outliers"][0]["rank"], 0);
}

const OOM: &str = "virtual-py-gpt2-oom-t4.pickle.gz";

#[test]
fn a_replay_as_recorded_is_the_recording() {
    let document = json(&["replay", "--json", "--verify", &file(OOM)]);
    let verify = &document["verify"];
    assert_eq!(verify["equal"], verify["recorded"]);
    assert_eq!(document["ooms"][0]["event"], 7643);
    let inspection = json(&["inspect", "--json", &file(OOM)]);
    assert_eq!(document["peak_reserved_bytes"], inspection["devices"][0]["peak_reserved_bytes"]);
}

#[test]
fn a_replay_says_how_fragmented_it_is_and_how_often_garbage_was_collected() {
    let settings = "garbage_collection_threshold:0.5,per_process_memory_fraction:0.98";
    let document = json(&["replay", "--json", &file(OOM), "--settings", settings]);
    for run in [&document, &document["recorded"]] {
        let bytes = |key: &str| run[key].as_f64().expect("bytes");
        let share = 1.0 - bytes("peak_live_bytes") / bytes("peak_reserved_bytes");
        assert!((run["fragmentation"].as_f64().expect("a share") - share).abs() < 1e-9, "{run}");
    }
    let collections = document["collections"].as_u64().expect("a count");
    assert!(collections > 0, "{document}");
    let text = run(&["replay", &file(OOM), "--settings", settings]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    let line = text.lines().find(|line| line.starts_with("Garbage collections")).unwrap_or_default();
    assert!(line.ends_with(&format!(" {collections}")) && text.contains("\nFragmentation "), "{text}");
    let plain = run(&["replay", &file(OOM)]);
    assert!(!String::from_utf8_lossy(&plain.stdout).contains("Garbage"));
}

#[test]
fn a_setting_that_is_not_modelled_is_refused_by_name() {
    check_refusal(&["replay", &file(OOM), "--settings", "backend:cudaMallocAsync"], &["backend:cudaMallocAsync"]);
}

#[test]
fn a_sweep_finds_what_fits() {
    let document = json(&["replay", "--json", "--sweep", &file(OOM), "--capacity", "h100-80gb"]);
    let sweep = &document["sweep"];
    let trials = sweep["trials"].as_array().expect("trials");
    let least = trials.iter().filter(|trial| trial["ooms"] == 0).map(|trial| &trial["peak_reserved_bytes"]);
    let least = least.filter_map(Value::as_u64).min();
    let best = trials.iter().find(|trial| trial["settings"] == sweep["best"]).expect("the best was tried");
    assert_eq!(best["peak_reserved_bytes"].as_u64(), least);
    assert!(sweep["smallest_card"].is_string(), "{sweep}");
    assert!(sweep["batch_factor"].as_f64().is_some_and(|factor| factor > 1.0), "{sweep}");
    let text = run(&["replay", "--sweep", &file(OOM)]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    for part in ["default settings (as recorded)", "expandable_segments:True", "Smallest card: "] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_replay_is_written_as_a_snapshot() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = folder.path().join("replay.pickle.gz").to_string_lossy().into_owned();
    let settings = "expandable_segments:True";
    let document = json(&["replay", "--json", &file(OOM), "-o", &output, "--settings", settings]);
    let inspection = json(&["inspect", "--json", &output]);
    let device = &inspection["devices"][0];
    for key in ["peak_live_bytes", "peak_reserved_bytes"] {
        assert_eq!(document[key], device[key], "{key}");
    }
    let again = json(&["replay", "--json", "--verify", &output]);
    assert_eq!(again["verify"]["equal"], again["verify"]["recorded"]);
}
