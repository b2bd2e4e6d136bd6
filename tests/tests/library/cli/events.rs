//! Tests `--events`: part of a trace has the figures of the whole.

use serde_json::Value;

use crate::cli::command::{check_refusal, json, stored};

const GPT2: &str = "torch2.15-gpt2-3steps-py311.pickle.gz";

#[test]
fn parts_of_the_events_have_the_figures_of_the_whole_if_they_are_there() {
    let file = stored(GPT2);
    let whole = &json(&["inspect", "--json", &file])["devices"][0];
    let inspection = json(&["inspect", "--json", "--events", "peak:200", &file]);
    let part = &inspection["devices"][0];
    assert_eq!((part["events"].as_u64(), &part["peak_live_bytes"]), (Some(200), &whole["peak_live_bytes"]));
    let codes: Vec<_> = inspection["diagnostics"].as_array().expect("rows").iter().map(|row| &row["code"]).collect();
    assert!(codes.iter().any(|code| *code == "part-of-trace"), "{codes:?}");
    let groups = |events: &[&str]| {
        let arguments = [&["peak", "--json", file.as_str()], events].concat();
        json(&arguments)["groups"].clone()
    };
    let bytes =
        |groups: Value| groups.as_array().expect("rows").iter().map(|row| row["bytes"].clone()).collect::<Vec<_>>();
    assert_eq!(bytes(groups(&["--events", "peak:200"])), bytes(groups(&[])));
    let whole = &json(&["inspect", "--json", &file])["devices"][0];
    let part = &json(&["inspect", "--json", "--events", "last:300", &file])["devices"][0];
    for key in ["end_live_bytes", "segments", "blocks", "reserved_bytes", "allocated_bytes"] {
        assert_eq!(part[key], whole[key], "{key}");
    }
    check_refusal(&["inspect", "--events", "5..5", &file], &["The range 5..5 contains no events", "GPU 0 has"]);
    check_refusal(&["peak", "--events", "0..9999999", &file], &["ends after the last event of GPU 0"]);
    check_refusal(&["peak", "--events", "0..9", "--device", "4", &file], &["no events of GPU 4"]);
    check_refusal(&["diagnose", "--events", "many", &file], &["expected A..B, last:N or peak:N"]);
}
