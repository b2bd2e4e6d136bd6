//! Tests `diagnose`: findings, growth, and memory that other processes hold on the card.

use serde_json::Value;
use shared::analysis::FindingCode;

use crate::cli::command::{check_refusal, json, run, stored};

#[test]
fn a_diagnosis_has_an_exit_status_for_scripts() {
    let file = stored("virtual-py-hf-gpt2-h100.pickle.gz");
    let status = |options: &[&str]| run(&[&["diagnose", file.as_str()], options].concat()).status.code();
    assert_eq!(status(&[]), Some(0));
    assert_eq!(status(&["--max-peak", "80GiB"]), Some(0));
    assert_eq!(status(&["--max-peak", "1GiB"]), Some(1));
    check_refusal(&["diagnose", "no/such/file"], &["no/such/file", "hint:"]);
}

#[test]
fn a_diagnosis_says_what_was_asked_for_when_memory_was_out_also_for_issues() {
    let file = stored("virtual-py-gpt2-oom-t4.pickle.gz");
    let output = run(&["diagnose", "--json", &file]);
    assert_eq!(output.status.code(), Some(1));
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let finding = &document["findings"][0];
    assert_eq!(
        (finding["code"].as_str(), finding["severity"].as_str()),
        (Some(FindingCode::OutOfMemory.name()), Some("error"))
    );
    assert_eq!((finding["bytes"].as_u64(), finding["device"].as_i64()), (Some(1_646_821_376), Some(0)));
    assert_eq!(finding["evidence"]["events"][0], 7643);
    let (steps, parts) = (finding["steps"].as_array().expect("steps"), finding["parts"].as_array().expect("parts"));
    let texts: Vec<&str> = steps.iter().filter_map(|step| step["text"].as_str()).collect();
    assert!(finding["advice"].as_str().is_some_and(|advice| advice.starts_with(&texts.join(" "))), "{finding}");
    assert!(steps.iter().any(|step| step["kind"] == "try"), "{steps:?}");
    assert!((1..=3).contains(&parts.len()) && parts[0]["bytes"].as_u64() > Some(1 << 30), "{parts:?}");
    let fix = "snapscope fix --card t4-16gb -- python oomt4.py";
    assert_eq!((&steps[steps.len() - 1]["value"], &steps[steps.len() - 1]["kind"]), (&fix.into(), &"copy".into()));
    let page = String::from_utf8(run(&["diagnose", &file]).stdout).expect("UTF-8");
    assert_eq!(page.matches("snapscope fix").count(), 1, "{page}");
    for part in [
        "error on GPU 0: Out of memory: tried to allocate 1.53 GiB, 0.985 GiB free",
        "  1. ",
        "The peak of 13.1 GiB is",
    ] {
        assert!(page.contains(part), "{part:?} in {page}");
    }
    let text = |arguments: &[&str]| String::from_utf8(run(arguments).stdout).expect("UTF-8");
    let title = "error on GPU 0: Out of memory: tried to allocate 1.53 GiB, 0.985 GiB free";
    let markdown = text(&["diagnose", "--markdown", &file]);
    assert!(markdown.starts_with("## ") && markdown.contains(&format!("\n\n**{title}**\n\n- ")), "{markdown}");
    assert!(markdown.contains("\n\n1. "), "steps are a list: {markdown}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let copy = folder.path().join("memory.pickle.gz").display().to_string();
    let card = text(&["report", &file, "--attach", &copy]);
    assert!(card.starts_with("**Memory in `virtual-py-gpt2-oom-t4.pickle.gz`** (Snapscope "), "{card}");
    assert!(card.contains(&format!("\n- {title}. *")) && card.lines().count() <= 9, "{card}");
    let peak = |file: &str| json(&["inspect", "--json", file])["devices"][0]["peak_live_bytes"].as_u64();
    assert_eq!(peak(&copy), peak(&file));
    check_refusal(&["report", &file, &file, "--attach", &copy], &["--attach takes one snapshot"]);
}

#[test]
fn a_diagnosis_tells_growth_and_what_others_have_of_a_card_apart() {
    let file = stored("torch2.15-gpt2-3steps-py311.pickle.gz");
    let document = json(&["diagnose", "--json", &file]);
    let growth = &document["growth"][0];
    assert_eq!((growth["steps"].as_u64(), growth["bytes_per_step"].as_u64()), (Some(3), Some(0)));
    assert!(growth["until_full"].is_null(), "nothing grows");
    let classes = growth["classes"].as_array().expect("classes");
    let state = classes.iter().find(|row| row["class"] == "optimizer-state").expect("AdamW has state");
    // As computed with CPython's pickle: 298 allocations below `torch/optim` are live at the end.
    assert_eq!((state["end_count"].as_u64(), state["end_bytes"].as_u64()), (Some(298), Some(1_304_875_008)));
    let groups = growth["groups"].as_array().expect("groups");
    let sum: u64 = groups.iter().filter_map(|row| row["end_bytes"].as_u64()).sum();
    assert_eq!(Some(sum), classes.iter().map(|row| row["end_bytes"].as_u64()).sum());
    let page = String::from_utf8(run(&["diagnose", &file]).stdout).expect("UTF-8");
    for part in ["Memory that stays allocated on GPU 0 after 3 steps", "optimizer state"] {
        assert!(page.contains(part), "{page}");
    }
    let file = stored("virtual-py-gpt2-oom-t4.pickle.gz");
    let outside = |options: &[&str]| {
        let output = run(&[&["diagnose", "--json", file.as_str()], options].concat());
        let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
        let rows = document["findings"].as_array().expect("findings").clone();
        rows.into_iter()
            .find(|row| row["code"] == FindingCode::OutsidePytorch.name())
            .and_then(|row| row["bytes"].as_u64())
    };
    let (card, reserved, free) = (14_930 << 20, 13_802 << 20, 1_057_554_432);
    assert_eq!(outside(&["--capacity", "t4-16gb"]), Some(card - reserved - free));
    assert_eq!((outside(&[]), outside(&["--capacity", "12GiB"])), (None, None));
}
