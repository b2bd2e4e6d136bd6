//! Tests that the questions which people bring are answered in few clicks and without scrolling.

use std::path::PathBuf;

use testkit::browser::Spot;
use testkit::server::root;
use testkit::tasks::{Act, Task};

use crate::journey::{Journey, snapshot};

fn mistake(name: &str) -> PathBuf {
    root().join("tests/data/mistakes").join(format!("{name}.pickle.gz"))
}

#[track_caller]
fn check(question: &'static str, files: &[PathBuf], acts: &'static [Act], answer: &'static str, most_clicks: u32) {
    let page = Journey::start_sized("/", 1440, 900);
    let task = Task { question, acts, answer, most_clicks };
    task.carry_out(&page, files).unwrap_or_else(|message| panic!("{question} {message}"));
}

#[test]
fn errors_leaks_and_the_largest_things_are_named_at_once() {
    let file = snapshot("virtual-py-gpt2-oom-t4.pickle.gz");
    check("Why did it run out of memory?", &[file], &[], "Use a smaller micro-batch", 0);
    check("Which line leaks?", &[mistake("deferred_logging_bad")], &[], "grows by", 0);
    let file = snapshot("torch2.10-train-step-xl-bf16.pickle.gz");
    check("What are the largest things at the peak?", &[file], &[], "At the peak:", 0);
    let file = snapshot("torch2.1-no-trace.pickle.gz");
    check("What are the largest things without a trace?", &[file], &[], "At the peak:", 0);
}

#[test]
fn modules_and_what_a_step_keeps_are_a_few_clicks_away() {
    let acts = &[Act::Click("button", "Area"), Act::Click("button", "module")];
    let file = snapshot("virtual-rust-mlp-spans.pickle.gz");
    check("What does each module hold over time?", &[file], acts, "At the peak:", 2);
    let acts = &[
        Act::Plot(Spot(0.5, 0.066)),
        Act::Click("tab", "Allocations"),
        Act::Choose("Scope", "In view: allocated and kept"),
    ];
    let file = mistake("deferred_logging_bad");
    check("What does a step allocate that it does not free?", &[file], acts, "in 10 allocations", 4);
}

#[test]
fn ranks_and_files_stand_beside_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let rank = |rank: u32| {
        let path = folder.path().join(format!("rank{rank}.pickle.gz"));
        std::fs::copy(snapshot("virtual-py-fsdp2-gpt2-rank0of8.pickle.gz"), &path).unwrap();
        path
    };
    let acts = &[Act::Click("tab", "Compare")];
    check("Which rank is odd?", &[rank(0), rank(1), rank(2)], acts, "3 ranks, no outliers", 1);
    let names = ["torch2.15-gpt2-3steps-py311.pickle.gz", "torch2.15-gpt2-3steps-expandable-py311.pickle.gz"];
    let acts = &[Act::Click("tab", "Compare")];
    check("What changed between two files?", &names.map(snapshot), acts, "same number of bytes", 1);
}

#[test]
fn a_copy_without_names_and_a_card_are_two_clicks_away() {
    let acts = &[Act::Click("button", "Share*"), Act::Click("button", "Upload and create a link")];
    let file = snapshot("torch2.10-train-step-xl-bf16.pickle.gz");
    check("Send this view without names", &[file], acts, "The link is ready", 2);
    let acts = &[Act::Choose("GPU memory", "l4-24gb")];
    let file = snapshot("virtual-py-resnet50-h100.pickle.gz");
    check("Will it fit on a 24 GB GPU?", &[file], acts, "15.9 GiB left", 2);
}
