//! Tests the memory of pipelines against arithmetic: the layers of a process, and its micro-batches in flight.

use crate::recorded::{Recorded, record, rounded_bytes};
use serde_json::json;

const RANKS: u64 = 3;
const PARTS: u64 = 6;
const SAMPLES: u64 = 12;
const TOKENS: u64 = 64;
const VOCABULARY: u64 = 1024;
const HIDDEN: u64 = 128;
const INNER: u64 = 384;
/// One more than the number of processes; the first process has the additional layer.
const LAYERS: u64 = 4;

/// Number of elements of the features of one micro-batch.
const FEATURES: u64 = SAMPLES / PARTS * TOKENS * HIDDEN;

fn train(rank: u64, schedule: &str) -> Recorded {
    record(&json!({
        "model": {
            "family": "transformer", "architecture": "llama", "vocabulary": VOCABULARY, "max_positions": TOKENS,
            "hidden": HIDDEN, "intermediate": INNER, "heads": 4, "layers": LAYERS, "tied_head": true,
        },
        "batch": SAMPLES, "sequence": TOKENS, "steps": 2, "card": "h100-80gb", "optimizer": "adamw",
        "parallel": {
            "kind": "pipeline", "ranks": RANKS, "rank": rank, "micro_batches": PARTS, "schedule": schedule,
        },
    }))
}

/// Returns the number of elements of each parameter of `count` layers.
fn of_layers(count: usize) -> Vec<u64> {
    let layer = [[HIDDEN * HIDDEN; 4].as_slice(), &[HIDDEN * INNER; 3], &[HIDDEN; 2]].concat();
    layer.repeat(count)
}

#[track_caller]
fn check_parameters(rank: u64, layers: usize, around: &[u64]) {
    let recorded = train(rank, "1f1b");
    let parameters = rounded_bytes(&[around, &of_layers(layers)].concat());
    assert_eq!(recorded.alive_bytes(".weight · setup"), parameters, "rank {rank}");
    assert_eq!(recorded.alive_bytes(".exp_avg · optimizer"), parameters, "rank {rank}");
}

#[test]
fn a_process_has_its_layers_and_what_is_around_them() {
    check_parameters(0, 2, &[VOCABULARY * HIDDEN]);
    check_parameters(1, 1, &[]);
    // The other copy of the head's weight is in the first process.
    check_parameters(2, 1, &[HIDDEN, VOCABULARY * HIDDEN]);
}

#[test]
fn layers_keep_the_numbers_of_the_whole_model() {
    assert!(train(1, "gpipe").alive_bytes("layers.2.mlp.up.weight · setup") > 0);
    assert!(train(2, "gpipe").alive_bytes("layers.3.mlp.up.weight · setup") > 0);
}

/// Checks the number of receive buffers of a process, each for one micro-batch.
#[track_caller]
fn check_received(rank: u64, count: u64) {
    assert_eq!(train(rank, "gpipe").alive_bytes("receive · setup"), count * rounded_bytes(&[FEATURES]), "rank {rank}");
}

#[test]
fn what_is_received_has_memory_of_its_own() {
    check_received(0, PARTS);
    check_received(1, 2 * PARTS);
    check_received(2, PARTS);
}

#[test]
fn one_backward_for_each_forward_bounds_the_parts_in_flight() {
    let in_flight = |rank, schedule| {
        let bytes = train(rank, schedule).peak_bytes("layers.2.mlp.up · forward");
        bytes / (4 * SAMPLES / PARTS * TOKENS * INNER)
    };
    assert_eq!(in_flight(1, "gpipe"), PARTS);
    assert_eq!(in_flight(1, "1f1b"), RANKS - 1);
}
