//! Tests the memory of BERT against arithmetic.

use serde_json::{Value, json};

use crate::recorded::{Recorded, changed, record, sorted};

const SAMPLES: u64 = 2;
const HIDDEN: u64 = 256;
const INNER: u64 = 768;
const HEADS: u64 = 4;
const TOKENS: u64 = 128;

/// Records two layers, with further keys of the model.
fn bert(model: &Value) -> Recorded {
    let config = json!({
        "model": {
            "family": "bert", "layers": 2, "hidden": HIDDEN, "intermediate": INNER, "heads": HEADS,
            "vocabulary": 1000, "max_positions": TOKENS,
        },
        "batch": SAMPLES, "sequence": TOKENS, "steps": 2, "set_to_none": false, "card": "h100-80gb",
    });
    record(&changed(config, &json!({ "model": model })))
}

/// Returns the number of elements of each parameter of a layer.
fn layer() -> Vec<u64> {
    let linear = [HIDDEN * HIDDEN, HIDDEN];
    let feed_forward = [HIDDEN * INNER, INNER, INNER * HIDDEN, HIDDEN];
    linear.repeat(4).into_iter().chain(feed_forward).chain([HIDDEN; 4]).collect()
}

/// Checks that every parameter has a gradient and two running averages of its size.
#[track_caller]
fn check_kept_for_training(recorded: &Recorded, own: &[u64]) {
    let expected = sorted(own.iter().copied().chain(layer().repeat(2)));
    for place in ["· backward", ".exp_avg · optimizer", ".exp_avg_sq · optimizer"] {
        assert_eq!(recorded.elements(place), expected, "{place}");
    }
}

#[test]
fn bert_keeps_what_it_must() {
    let embeddings = [1000 * HIDDEN, TOKENS * HIDDEN, 2 * HIDDEN, HIDDEN, HIDDEN];
    // The decoder's weight is that of the embedding; it has a bias of its own.
    let head = [HIDDEN * HIDDEN, HIDDEN, HIDDEN, HIDDEN, 1000];
    let recorded = bert(&json!({}));
    check_kept_for_training(&recorded, &[embeddings, head].concat());
    assert_eq!(recorded.alive_bytes("_ids · setup"), 2 * 8 * TOKENS, "positions and types in 64 bits");
}

/// Checks the bytes that the second layer saves for backward; the first one also has workspaces.
#[track_caller]
fn check_kept_for_backward(recorded: &Recorded, bytes: u64) {
    let kept = recorded.bytes_before_backward(|place| place.starts_with("layers.1") && place.ends_with(" · forward"));
    // Attention saves two numbers, the state of its dropout, for all tokens together.
    assert!((bytes..=bytes + 16).contains(&kept), "{kept} bytes, not {bytes}");
}

/// Bytes that a layer saves for each token outside of attention: two norms with their inputs, and the feed-forward
/// network.
const OF_A_TOKEN: u64 = 4 * (2 * (HIDDEN + 2) + 2 * HIDDEN + 2 * INNER);

#[test]
fn a_layer_of_bert_keeps_for_backward() {
    let attention = 4 * (3 * HIDDEN + HIDDEN + HEADS);
    let masks = 2 * HIDDEN;
    let tokens = SAMPLES * TOKENS;
    check_kept_for_backward(&bert(&json!({})), tokens * (OF_A_TOKEN + attention + masks));
    check_kept_for_backward(&bert(&json!({ "dropout": 0.0 })), tokens * (OF_A_TOKEN + attention));
}

#[test]
fn attention_that_is_written_out_keeps_its_probabilities() {
    let attention = 4 * (3 * HIDDEN + HIDDEN + 2 * HEADS * TOKENS);
    let masks = 2 * HIDDEN + HEADS * TOKENS;
    // Matrix products read copies of queries, keys and values, so that the originals are not saved.
    let bytes = SAMPLES * TOKENS * (OF_A_TOKEN + attention + masks);
    check_kept_for_backward(&bert(&json!({ "attention": "eager", "dropout": 0.1 })), bytes);
}
