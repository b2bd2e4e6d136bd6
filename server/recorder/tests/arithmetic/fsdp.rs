//! Tests the memory of full sharding against arithmetic: the shards of a process, and what it gathers.

use crate::recorded::{Recorded, changed, record, rounded_bytes};
use serde_json::{Value, json};

const STEPS: usize = 2;
const RANKS: u64 = 5;
const VOCABULARY: u64 = 1003;
const POSITIONS: u64 = 64;
const HIDDEN: u64 = 96;
const INNER: u64 = 4 * HIDDEN;
const LAYERS: usize = 2;

/// Rows and features of each parameter of a block.
const BLOCK: [(u64, u64); 12] = [
    (HIDDEN, 1),
    (HIDDEN, 1),
    (HIDDEN, 3 * HIDDEN),
    (3 * HIDDEN, 1),
    (HIDDEN, HIDDEN),
    (HIDDEN, 1),
    (HIDDEN, 1),
    (HIDDEN, 1),
    (HIDDEN, INNER),
    (INNER, 1),
    (INNER, HIDDEN),
    (HIDDEN, 1),
];
/// Rows and features of the parameters that belong to no block.
const ROOT: [(u64, u64); 4] = [(VOCABULARY, HIDDEN), (POSITIONS, HIDDEN), (HIDDEN, 1), (HIDDEN, 1)];

/// Returns the rows of each part, except that the last one may be smaller.
fn part(rows: u64) -> u64 {
    rows.div_ceil(RANKS)
}

/// Returns the number of elements of each parameter's shard on this rank.
fn shards(rank: u64) -> Vec<u64> {
    let all = ROOT.into_iter().chain((0..LAYERS).flat_map(|_| BLOCK));
    all.map(|(rows, features)| part(rows).min(rows.saturating_sub(rank * part(rows))) * features).collect()
}

/// Returns the bytes that each rank contributes to a group's reduction, padding included.
fn padded_bytes(group: &[(u64, u64)]) -> u64 {
    rounded_bytes(&[group.iter().map(|(rows, features)| part(*rows) * features).sum()])
}

fn train(options: &Value) -> Recorded {
    let parallel = changed(json!({ "kind": "fsdp", "ranks": RANKS }), options);
    record(&json!({
        "model": {
            "family": "transformer", "architecture": "gpt2", "vocabulary": VOCABULARY, "max_positions": POSITIONS,
            "hidden": HIDDEN, "intermediate": INNER, "heads": 4, "layers": LAYERS, "tied_head": true,
        },
        "batch": 2, "sequence": 32, "steps": STEPS, "card": "h100-80gb", "optimizer": "adamw",
        "set_to_none": false, "parallel": parallel,
    }))
}

#[test]
fn a_rank_has_its_part_of_weights_gradients_and_state() {
    let recorded = train(&json!({}));
    let shards = rounded_bytes(&shards(0));
    assert_eq!(recorded.alive_bytes(" · setup"), shards);
    assert_eq!(recorded.alive_bytes(".exp_avg · optimizer"), shards);
    assert_eq!(recorded.alive_bytes(".exp_avg_sq · optimizer"), shards);
    // The gradients of a block are views of the result of its reduction.
    for layer in 0..LAYERS {
        assert_eq!(recorded.alive_bytes(&format!("layers.{layer} · backward")), padded_bytes(&BLOCK));
    }
    assert_eq!(recorded.alive_bytes("fsdp · backward"), padded_bytes(&ROOT));
}

#[test]
fn the_last_rank_pads_what_is_shorter() {
    let recorded = train(&json!({ "rank": RANKS - 1 }));
    let state = rounded_bytes(&shards(RANKS - 1));
    assert_eq!(recorded.alive_bytes(".exp_avg · optimizer"), state);
    let token = "embedding.token.weight";
    let rows = VOCABULARY - (RANKS - 1) * part(VOCABULARY);
    assert_eq!(recorded.requested_bytes(0, &format!("{token} · setup")), [4 * rows * HIDDEN]);
    let [padded, wholes @ ..] = &recorded.requested_bytes(0, &format!("{token} · forward"))[..] else {
        panic!("the shard is padded before the first forward pass");
    };
    assert_eq!(*padded, 4 * part(VOCABULARY) * HIDDEN);
    assert_eq!(wholes, [4 * RANKS * part(VOCABULARY) * HIDDEN; STEPS]);
}

/// Checks the bytes of a gathered weight of a block, in forward passes and in backward.
#[track_caller]
fn check_gathered(options: &Value, forward: &[u64], backward: &[u64]) {
    let recorded = train(options);
    let gathered = |phase| recorded.requested_bytes(0, &format!("layers.0.mlp.up.weight · {phase}"));
    assert_eq!((gathered("forward"), gathered("backward")), (forward.to_vec(), backward.to_vec()));
}

#[test]
fn blocks_gather_their_weights_for_forward_and_backward() {
    let weight = 4 * RANKS * part(HIDDEN) * INNER;
    check_gathered(&json!({}), &[weight; STEPS], &[weight; STEPS]);
    check_gathered(&json!({ "reshard_after_forward": false }), &[weight; STEPS], &[]);
    check_gathered(&json!({ "mixed_precision": true }), &[weight / 2; STEPS], &[weight / 2; STEPS]);
}
