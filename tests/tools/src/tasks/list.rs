//! The questions, with the files whose answers are known.

use testkit::browser::Spot;
use testkit::tasks::{Act, Task};

/// Tasks, and how the names of their files begin; a star stands for each file by itself.
pub(super) const TASKS: &[(Task, &[&str])] = &[
    (
        task("1 Why did it run out of memory, and what would have helped?", &[], "What followed is not known", 2),
        &["Constructor-Sun"],
    ),
    (
        task("1 The same of four ranks", &[], "in a replay of the recording, all requests then succeed", 2),
        &[RANKS[0], RANKS[1], RANKS[2], RANKS[3]],
    ),
    (task("2 Which line leaks?", &[], "train_one_step (memory_leaks_demo.py:11)", 2), &[LEAKY]),
    (task("3 What are the largest things at the peak?", &[], "At the peak:", 2), &["*"]),
    (
        task(
            "4 Show all memory of one module over time (FeedForward of Llama)",
            &[Act::Click("button", "linear*model.py:340*")],
            "7.00 GiB at the peak",
            4,
        ),
        &[RANKS[0]],
    ),
    (
        task("5 What changed between two files?", &[Act::Click("tab", "Compare")], "differences", 4),
        &[
            "notHanmin__assignment2-systems__memory_snapshot_forward.",
            "notHanmin__assignment2-systems__memory_snapshot_forward_without",
        ],
    ),
    (task("6 Which rank is odd?", &[Act::Click("tab", "Compare")], "4 ranks, no outliers", 4), &RANKS),
    (task("7 What does a step allocate that it does not free?", KEPT, "allocations", 4), &[LEAKY]),
    (
        task(
            "8 Why is reserved far above live?",
            &[],
            "PyTorch reserves 22.7 GiB, but never more than 15.2 GiB is live",
            4,
        ),
        &["HugePandaCoder__octree-nca-groupeq__my_snapshot-255fc09a"],
    ),
    (task("9 Send this view to a colleague without names", SHARE, "The link is ready", 4), &["RoyYu0509"]),
    (
        task(
            "10 Will it fit on a 24 GB GPU?",
            &[Act::Choose("GPU memory", "l4-24gb")],
            "20.2 GiB reserved, 1.81 GiB left",
            4,
        ),
        &["RoyYu0509"],
    ),
];

const LEAKY: &str = "codeasier__MemSnapDump__snapshot_with_multi_devices";

const RANKS: [&str; 4] = [
    "cornell-sysphotonics__ccl-bench__rank0",
    "cornell-sysphotonics__ccl-bench__rank1",
    "cornell-sysphotonics__ccl-bench__rank2",
    "cornell-sysphotonics__ccl-bench__rank3",
];

/// What leads to the allocations that a step keeps.
const KEPT: &[Act] = &[
    Act::Plot(Spot(0.5, 0.035)),
    Act::Click("tab", "Allocations"),
    Act::Choose("Scope", "In view: allocated and kept"),
];

const SHARE: &[Act] = &[Act::Click("button", "Share*"), Act::Click("button", "Upload and create a link")];

const fn task(question: &'static str, acts: &'static [Act], answer: &'static str, most_clicks: u32) -> Task {
    Task { question, acts, answer, most_clicks }
}
