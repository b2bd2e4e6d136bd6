//! Tests `inspect` and `peak`: the content of a snapshot, as text and as JSON.

use testkit::corpus::samples;

use crate::cli::command::{check_refusal, json, run, stored};

#[test]
fn bad_input_is_one_sentence_with_a_hint_or_the_names_that_there_are() {
    let broken = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(broken.path(), b"\x80\x04}\x94(\x8c\x08seg").expect("room");
    let broken = broken.path().to_string_lossy().into_owned();
    check_refusal(&["inspect", &broken], &["error:", "SHORT_BINUNICODE", "at byte 5", "hint:", "truncated"]);
    check_refusal(&["peak", &broken], &["error:", "at byte 5"]);
    check_refusal(&["inspect", "no/such/file"], &["no/such/file", "hint:"]);
    check_refusal(&["inspect", "."], &["error: .:"]);
    let file = stored("virtual-py-dataparallel4.pickle.gz");
    check_refusal(&["peak", &file, "--device", "7"], &["no device 7", "0, 1, 2, 3"]);
    check_refusal(&["peak", &file, "--device", "1", "--at", "151"], &["no event 151", "to 150"]);
    check_refusal(&["peak", &file, "--at", "-2"], &["no event -2"]);
}

#[test]
fn the_report_for_people_says_the_figures() {
    let output = run(&["inspect", &stored("virtual-py-gpt2-oom-t4.pickle.gz")]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    for part in ["GPU 0 · 7,646 events", "peak live", "13.1 GiB", "after event 7,630", "█", "ran out of memory once"]
    {
        assert!(text.contains(part), "{part:?} in {text}");
    }
}

#[test]
fn the_groups_of_the_peak_add_up() {
    for sample in samples() {
        if sample.name == "made-no-gpu.pickle" {
            check_refusal(&["peak", &sample.path.to_string_lossy()], &["no device", "never initialized"]);
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
fn the_peak_of_a_device_is_that_of_inspect_and_of_its_groups() {
    let file = stored("virtual-py-dataparallel4.pickle.gz");
    let inspection = json(&["inspect", "--json", &file]);
    for device in inspection["devices"].as_array().expect("devices") {
        let index = device["device"].to_string();
        let peak = json(&["peak", "--json", &file, "--device", &index]);
        assert_eq!(peak["live_bytes"], device["peak_live_bytes"], "device {index}");
        assert_eq!(peak["event"], device["peak_event"], "device {index}");
    }
    let file = stored("virtual-py-hf-gpt2-h100.pickle.gz");
    let peak = |by: &str| json(&["peak", "--json", "--top", "1000000", "--by", by, &file]);
    for by in ["stack", "module", "category", "stream", "pool", "size"] {
        let document = peak(by);
        let groups = document["groups"].as_array().expect("groups");
        let bytes: u64 = groups.iter().filter_map(|group| group["bytes"].as_u64()).sum();
        assert_eq!(Some(bytes), document["live_bytes"].as_u64(), "{by}");
        assert_eq!((document["by"].as_str(), &document["bytes"]), (Some(by), &document["live_bytes"]));
    }
    // A frame that all stacks have in common holds at least the bytes of the largest stack.
    let by_frame = peak("frame");
    assert!(by_frame["groups"][0]["bytes"].as_u64() >= peak("stack")["groups"][0]["bytes"].as_u64());
}

#[test]
fn filters_ranges_and_the_state_before_the_first_event_say_what_is_summed_up() {
    let file = stored("virtual-py-hf-gpt2-h100.pickle.gz");
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
    let pattern = ["peak", "--filter", "(", "--regex", &file];
    check_refusal(&pattern, &["--filter (", "invalid regular expression", "--regex"]);
    check_refusal(&["peak", "--part", "born", &file], &["--part needs a range", "--from"]);
    check_refusal(&["peak", "--from", "9", "--to", "3", &file], &["--to is before --from"]);
    check_refusal(&["peak", "--to", "99999999", &file], &["no event 99999999"]);
    let document = json(&["peak", "--json", "--at", "-1", &stored("virtual-py-hf-gpt2-h100.pickle.gz")]);
    assert_eq!(document["live_bytes"], 497_759_232);
    assert_eq!(document["event"], -1);
}

#[test]
fn names_in_a_snapshot_command_no_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.json");
    let name = r"\u001b]0;owned\u0007\u001b[2J\u009b2J";
    let frames = format!(r#"[{{"name":"{name}","filename":"/home/a/train.py","line":1}}]"#);
    let event = format!(r#"{{"action":"alloc","addr":4096,"size":512,"stream":0,"time_us":1,"frames":{frames}}}"#);
    std::fs::write(&path, format!(r#"{{"segments":[],"device_traces":[[{event}]]}}"#)).expect("room");
    let path = path.to_str().expect("UTF-8");
    for command in ["peak", "diagnose", "inspect", "source"] {
        for options in [&["--json"][..], &[]] {
            let output = run(&[&[command, path], options].concat());
            let text = String::from_utf8(output.stdout).expect("UTF-8");
            assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{command} {options:?}: {text:?}");
        }
    }
    let page = String::from_utf8(run(&["peak", path]).stdout).expect("UTF-8");
    assert!(page.contains(r"\u001b]0;owned"), "{page}");
}
