//! Tests the memory of encoders against arithmetic.

use serde_json::{Value, json};

use crate::recorded::{Recorded, record};

const SAMPLES: u64 = 2;
const HIDDEN: u64 = 256;
const INNER: u64 = 768;
const HEADS: u64 = 4;
const BERT_TOKENS: u64 = 128;
/// Number of patches of 8 × 8 pixels in an image of 88 × 88, and the class token.
const VIT_TOKENS: u64 = 11 * 11 + 1;
/// Memory-efficient attention allocates its log-sum-exp for a multiple of this number of tokens.
const EFFICIENT_TOKENS: u64 = 32;

/// Returns a config of two layers, with further keys of the model.
fn config(family: &str, model: &Value) -> Value {
    let mut config = json!({
        "model": { "family": family, "layers": 2, "hidden": HIDDEN, "intermediate": INNER, "heads": HEADS },
        "batch": SAMPLES,
        "steps": 2,
        "set_to_none": false,
        "card": "h100-80gb",
    });
    for (key, value) in model.as_object().expect("keys") {
        config["model"][key] = value.clone();
    }
    config
}

fn bert(model: &Value) -> Recorded {
    let mut config = config("bert", &json!({ "vocabulary": 1000, "max_positions": BERT_TOKENS }));
    config["sequence"] = BERT_TOKENS.into();
    for (key, value) in model.as_object().expect("keys") {
        config["model"][key] = value.clone();
    }
    record(&config)
}

fn vit(model: &Value) -> Recorded {
    let mut config = config("vit", &json!({ "image_size": 88, "patch_size": 8, "classes": 10 }));
    for (key, value) in model.as_object().expect("keys") {
        config["model"][key] = value.clone();
    }
    record(&config)
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
    let mut expected: Vec<_> = own.iter().copied().chain(layer().repeat(2)).collect();
    expected.sort_unstable();
    let alive = recorded.alive();
    for place in ["· backward", ".exp_avg · optimizer", ".exp_avg_sq · optimizer"] {
        // cuBLAS keeps a workspace for the thread of backward.
        let kept = alive.iter().filter(|tensor| tensor.place.ends_with(place) && tensor.requested_bytes != 32 << 20);
        let mut elements: Vec<_> = kept.map(|tensor| tensor.requested_bytes / 4).collect();
        elements.sort_unstable();
        assert_eq!(elements, expected, "{place}");
    }
}

#[test]
fn bert_keeps_what_it_must() {
    let embeddings = [1000 * HIDDEN, BERT_TOKENS * HIDDEN, 2 * HIDDEN, HIDDEN, HIDDEN];
    // The decoder's weight is that of the embedding; it has a bias of its own.
    let head = [HIDDEN * HIDDEN, HIDDEN, HIDDEN, HIDDEN, 1000];
    let recorded = bert(&json!({}));
    check_kept_for_training(&recorded, &[embeddings, head].concat());
    assert_eq!(recorded.alive_bytes("_ids · setup"), 2 * 8 * BERT_TOKENS, "positions and types in 64 bits");
}

#[test]
fn vit_keeps_what_it_must() {
    let embeddings = [HIDDEN, VIT_TOKENS * HIDDEN, 3 * 8 * 8 * HIDDEN, HIDDEN];
    let head = [HIDDEN, HIDDEN, 10 * HIDDEN, 10];
    check_kept_for_training(&vit(&json!({})), &[embeddings, head].concat());
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
    let tokens = SAMPLES * BERT_TOKENS;
    check_kept_for_backward(&bert(&json!({})), tokens * (OF_A_TOKEN + attention + masks));
    check_kept_for_backward(&bert(&json!({ "dropout": 0.0 })), tokens * (OF_A_TOKEN + attention));
}

#[test]
fn a_layer_of_vit_keeps_for_backward() {
    let attention = 4 * (3 * HIDDEN + HIDDEN);
    let sums = 4 * HEADS * VIT_TOKENS.next_multiple_of(EFFICIENT_TOKENS);
    check_kept_for_backward(&vit(&json!({})), SAMPLES * (VIT_TOKENS * (OF_A_TOKEN + attention) + sums));
}

#[test]
fn attention_that_is_written_out_keeps_its_probabilities() {
    let attention = |tokens| 4 * (3 * HIDDEN + HIDDEN + 2 * HEADS * tokens);
    let eager = json!({ "attention": "eager", "dropout": 0.1 });
    let masks = |tokens| 2 * HIDDEN + HEADS * tokens;
    // Matrix products read copies of queries, keys and values, so that the originals are not saved.
    let bytes = SAMPLES * BERT_TOKENS * (OF_A_TOKEN + attention(BERT_TOKENS) + masks(BERT_TOKENS));
    check_kept_for_backward(&bert(&eager), bytes);
    let bytes = SAMPLES * VIT_TOKENS * (OF_A_TOKEN + attention(VIT_TOKENS) + masks(VIT_TOKENS));
    check_kept_for_backward(&vit(&eager), bytes);
}
