//! The questions, with the files whose answers are known.

use testkit::browser::Spot;
use testkit::tasks::{Act, Task};

/// Tasks, and how the names of their files begin; a star stands for each file by itself.
pub(super) const TASKS: &[(&Task, &[&str])] = &[
    (
        &Task {
            question: "1 Why did it run out of memory, and what would have helped?",
            acts: &[],
            answer: "What followed is not known",
            most_clicks: 2,
        },
        &["Constructor-Sun"],
    ),
    (
        &Task {
            question: "1 The same of four ranks",
            acts: &[],
            answer: "in a replay of the recording, all requests then succeed",
            most_clicks: 2,
        },
        &[
            "cornell-sysphotonics__ccl-bench__rank0",
            "cornell-sysphotonics__ccl-bench__rank1",
            "cornell-sysphotonics__ccl-bench__rank2",
            "cornell-sysphotonics__ccl-bench__rank3",
        ],
    ),
    (
        &Task {
            question: "2 Which line leaks?",
            acts: &[],
            answer: "train_one_step (memory_leaks_demo.py:11)",
            most_clicks: 2,
        },
        &["codeasier__MemSnapDump__snapshot_with_multi_devices"],
    ),
    (
        &Task {
            question: "3 What are the largest things at the peak?",
            acts: &[],
            answer: "At the peak:",
            most_clicks: 2,
        },
        &["*"],
    ),
    (
        &Task {
            question: "4 Show all memory of one module over time (FeedForward of Llama)",
            acts: &[Act::Click("button", "linear*model.py:340*")],
            answer: "7.00 GiB at the peak",
            most_clicks: 4,
        },
        &["cornell-sysphotonics__ccl-bench__rank0"],
    ),
    (
        &Task {
            question: "5 What changed between two files?",
            acts: &[Act::Click("tab", "Compare")],
            answer: "differences",
            most_clicks: 4,
        },
        &[
            "notHanmin__assignment2-systems__memory_snapshot_forward.",
            "notHanmin__assignment2-systems__memory_snapshot_forward_without",
        ],
    ),
    (
        &Task {
            question: "6 Which rank is odd?",
            acts: &[Act::Click("tab", "Compare")],
            answer: "4 ranks, no outliers",
            most_clicks: 4,
        },
        &[
            "cornell-sysphotonics__ccl-bench__rank0",
            "cornell-sysphotonics__ccl-bench__rank1",
            "cornell-sysphotonics__ccl-bench__rank2",
            "cornell-sysphotonics__ccl-bench__rank3",
        ],
    ),
    (
        &Task {
            question: "7 What does a step allocate that it does not free?",
            acts: &[
                Act::Plot(Spot(0.5, 0.035)),
                Act::Click("tab", "Allocations"),
                Act::Choose("Scope", "In view: allocated and kept"),
            ],
            answer: "allocations",
            most_clicks: 4,
        },
        &["codeasier__MemSnapDump__snapshot_with_multi_devices"],
    ),
    (
        &Task {
            question: "8 Why is reserved far above live?",
            acts: &[],
            answer: "PyTorch reserves 22.7 GiB, but never more than 15.2 GiB is live",
            most_clicks: 4,
        },
        &["HugePandaCoder__octree-nca-groupeq__my_snapshot-255fc09a"],
    ),
    (
        &Task {
            question: "9 Send this view to a colleague without names",
            acts: &[Act::Click("button", "Share*"), Act::Click("button", "Upload and create a link")],
            answer: "The link is ready",
            most_clicks: 4,
        },
        &["RoyYu0509"],
    ),
    (
        &Task {
            question: "10 Will it fit on a 24 GB GPU?",
            acts: &[Act::Choose("GPU memory", "l4-24gb")],
            answer: "20.2 GiB reserved, 1.81 GiB left",
            most_clicks: 4,
        },
        &["RoyYu0509"],
    ),
];
