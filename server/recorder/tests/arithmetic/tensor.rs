//! Tests the memory of tensor parallelism against arithmetic: parts of weights, and whole or partial activations.

use crate::recorded::{Recorded, record, rounded_bytes};
use serde_json::json;

const STEPS: usize = 2;
const RANKS: u64 = 4;
const SAMPLES: u64 = 2;
const TOKENS: u64 = 128;
const VOCABULARY: u64 = 4096;
const HIDDEN: u64 = 256;
const INNER: u64 = 768;
const HEADS: u64 = 8;
const KV_HEADS: u64 = 4;
const LAYERS: usize = 2;

/// Number of elements of the features of all tokens.
const FEATURES: u64 = SAMPLES * TOKENS * HIDDEN;

/// Returns the number of elements of this process's part of each parameter; norms are whole.
fn parts() -> Vec<u64> {
    let rows = VOCABULARY / RANKS * HIDDEN;
    let query = HIDDEN * HIDDEN / RANKS;
    let key = query * KV_HEADS / HEADS;
    let inner = HIDDEN * INNER / RANKS;
    let layer = [query, key, key, query, inner, inner, inner, HIDDEN, HIDDEN];
    [rows, HIDDEN, rows].into_iter().chain((0..LAYERS).flat_map(|_| layer)).collect()
}

fn train(rank: u64, sequence_parallel: bool, tied_head: bool) -> Recorded {
    record(&json!({
        "model": {
            "family": "transformer", "architecture": "llama", "vocabulary": VOCABULARY, "max_positions": TOKENS,
            "hidden": HIDDEN, "intermediate": INNER, "heads": HEADS, "kv_heads": KV_HEADS, "layers": LAYERS,
            "tied_head": tied_head, "use_cache": false,
        },
        "batch": SAMPLES, "sequence": TOKENS, "steps": STEPS, "card": "h100-80gb", "optimizer": "adamw",
        "parallel": { "kind": "tensor", "ranks": RANKS, "rank": rank, "sequence_parallel": sequence_parallel },
    }))
}

#[test]
fn every_rank_has_a_part_of_weights_and_state() {
    for (rank, sequence_parallel) in [(0, false), (RANKS - 1, true)] {
        let recorded = train(rank, sequence_parallel, false);
        assert_eq!(recorded.alive_bytes(".weight · setup"), rounded_bytes(&parts()));
        assert_eq!(recorded.alive_bytes(".exp_avg · optimizer"), rounded_bytes(&parts()));
        assert_eq!(recorded.alive_bytes(".exp_avg_sq · optimizer"), rounded_bytes(&parts()));
    }
}

#[test]
fn every_rank_computes_the_gradient_of_the_whole_vocabulary() {
    let whole = VOCABULARY * HIDDEN;
    let times = |recorded: &Recorded, elements: u64| {
        let asked = recorded.requested_bytes(0, "embedding.token · backward");
        asked.iter().filter(|&&bytes| bytes == 4 * elements).count()
    };
    assert_eq!(times(&train(0, false, false), whole), STEPS);
    // The gradient of a tied head has the rows of this process: those rows of the embedding's gradient are copied, and
    // the two are added in a new tensor.
    let tied = train(0, false, true);
    assert_eq!((times(&tied, whole), times(&tied, whole / RANKS)), (STEPS, 2 * STEPS));
}

/// Checks the sizes that a place allocates in the forward pass of each step.
#[track_caller]
fn check_forward(recorded: &Recorded, place: &str, elements: &[u64]) {
    let bytes: Vec<_> = elements.iter().map(|count| 4 * count).collect();
    assert_eq!(recorded.requested_bytes(0, &format!("{place} · forward")), bytes.repeat(STEPS), "{place}");
}

#[test]
fn layers_that_are_divided_by_their_inputs_end_in_a_sum() {
    let recorded = train(1, false, false);
    check_forward(&recorded, "layers.0.attention.k", &[FEATURES / RANKS * KV_HEADS / HEADS]);
    check_forward(&recorded, "layers.0.mlp.up", &[SAMPLES * TOKENS * INNER / RANKS]);
    check_forward(&recorded, "layers.0.mlp.down", &[FEATURES, FEATURES]);
}

#[test]
fn a_rank_adds_up_its_own_tokens_where_these_are_divided() {
    let recorded = train(1, true, false);
    // The whole sum, its copy in the order of the processes, and this process's part of it.
    check_forward(&recorded, "layers.0.mlp.down", &[FEATURES, FEATURES, FEATURES / RANKS]);
    check_forward(&recorded, "layers.0", &[FEATURES / RANKS, FEATURES / RANKS]);
}
