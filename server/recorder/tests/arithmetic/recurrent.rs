//! Tests the memory of recurrent models against arithmetic.

use serde_json::{Value, json};

use crate::recorded::{Recorded, WORKSPACE_BYTES, changed, record, rounded_bytes};

const SAMPLES: u64 = 4;
const TOKENS: u64 = 35;
const VOCABULARY: u64 = 1000;
const EMBEDDED: u64 = 100;
const HIDDEN: u64 = 200;
const LAYERS: u64 = 2;
const LSTM_GATES: u64 = 4;
const GRU_GATES: u64 = 3;
/// Number of elements of a batch's final state, for each kind of state.
const STATE: u64 = LAYERS * SAMPLES * HIDDEN;

/// Runs a config without dropout, because cuDNN has a state of its own for dropout.
#[track_caller]
fn train(model: &Value, job: &Value) -> Recorded {
    let config = json!({
        "model": {
            "family": "rnn", "vocabulary": VOCABULARY, "embedding": EMBEDDED, "hidden": HIDDEN, "layers": LAYERS,
            "dropout": 0.0,
        },
        "batch": SAMPLES, "sequence": TOKENS, "steps": 2, "card": "h100-80gb",
    });
    record(&changed(changed(config, &json!({ "model": model })), job))
}

/// Returns the number of elements of each weight of all layers.
fn weights(gates: u64) -> Vec<u64> {
    let layer = |inputs| [gates * HIDDEN * inputs, gates * HIDDEN * HIDDEN, gates * HIDDEN, gates * HIDDEN];
    [layer(EMBEDDED), layer(HIDDEN)].concat()
}

#[test]
fn the_weights_lie_in_one_buffer() {
    for (cell, gates) in [("lstm", LSTM_GATES), ("gru", GRU_GATES)] {
        let recorded = train(&json!({ "cell": cell }), &json!({}));
        let elements = weights(gates).iter().sum();
        assert_eq!(recorded.alive_bytes("rnn · setup"), rounded_bytes(&[elements]), "{cell}");
        assert_eq!(recorded.alive_bytes("_l0 · setup"), 0, "{cell}: what they were moved from is free");
    }
}

#[test]
fn every_weight_has_running_averages() {
    let mut expected = weights(LSTM_GATES);
    expected.extend([VOCABULARY * EMBEDDED, VOCABULARY * HIDDEN, VOCABULARY]);
    let recorded = train(&json!({}), &json!({}));
    assert_eq!(recorded.alive_bytes(".exp_avg · optimizer"), rounded_bytes(&expected));
}

#[test]
fn a_tied_head_has_a_bias_only() {
    let recorded = train(&json!({ "tied_head": true, "embedding": HIDDEN }), &json!({}));
    assert_eq!(recorded.alive_bytes("head.weight · setup"), 0);
    assert_eq!(recorded.alive_bytes("head.bias · setup"), rounded_bytes(&[VOCABULARY]));
}

#[test]
fn what_is_carried_stays_between_batches() {
    let kept = |cell: &str, carry: &str| {
        let recorded = train(&json!({ "cell": cell, "carry_hidden": carry }), &json!({}));
        recorded.alive_bytes("rnn · forward")
    };
    assert_eq!(kept("lstm", "detach"), rounded_bytes(&[STATE, STATE]), "hidden and cell state");
    assert_eq!(kept("gru", "detach"), rounded_bytes(&[STATE]), "the hidden state");
    assert_eq!(kept("lstm", "none"), 0);
    assert_eq!(kept("gru", "none"), 0);
}

#[test]
fn carrying_keeps_no_graph() {
    let recorded = train(&json!({}), &json!({ "steps": 5 }));
    let bytes = recorded.live_bytes_at_step_ends();
    assert!(bytes[1..].iter().all(|end| *end == bytes[1]), "{bytes:?}");
}

#[test]
fn the_head_reads_a_copy_and_writes_logits_of_every_token() {
    // The workspace is there because the head is the first matrix product that PyTorch itself runs.
    // cuDNN returns features with tokens first, and the matrix product reads a copy with the batch first.
    let features = HIDDEN;
    // The logits of the previous step are freed, because outputs live until their step ends.
    let bytes = 4 * SAMPLES * TOKENS * (features + VOCABULARY) + WORKSPACE_BYTES;
    assert_eq!(train(&json!({}), &json!({})).peak_bytes("head · forward"), bytes);
}

#[test]
fn an_evaluation_copies_features_for_the_head_under_autocast() {
    let evaluation = json!({ "every": 2, "batches": 1, "batch": SAMPLES });
    let recorded = train(&json!({}), &json!({ "precision": "autocast-fp16", "evaluation": evaluation }));
    // PyTorch casts weights that require gradients even here, and a product with such a cast folds samples and tokens.
    let [bias, weight] = [VOCABULARY, VOCABULARY * HIDDEN];
    let elements = [bias, weight, SAMPLES * TOKENS * HIDDEN, SAMPLES * TOKENS * VOCABULARY];
    assert_eq!(recorded.requested_bytes(0, "head · evaluation"), elements.map(|count| 2 * count));
}
