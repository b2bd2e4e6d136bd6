//! Tests the ways to save memory against arithmetic.

use serde_json::{Value, json};

use crate::recorded::{self, MLP_PARAMETERS as PARAMETERS, Recorded, WORKSPACE_BYTES, changed, record, rounded_bytes};

const SAMPLES: u64 = 2;
const TOKENS: u64 = 128;
const HIDDEN: u64 = 256;
const INNER: u64 = 768;
const HEADS: u64 = 4;
const VOCABULARY: u64 = 1000;

/// Number of samples in a batch of [`mlp`].
const BATCH: u64 = 64;

/// Below this number of elements, bitsandbytes keeps state in 32 bits, and torchao keeps state on the device.
const SMALL_ELEMENTS: u64 = 4096;

/// Runs one step of a GPT-2 of four layers.
#[track_caller]
fn gpt2(changes: &Value) -> Recorded {
    let model = json!({
        "family": "transformer", "layers": 4, "hidden": HIDDEN, "intermediate": INNER, "heads": HEADS,
        "vocabulary": VOCABULARY, "max_positions": TOKENS, "use_cache": false,
    });
    let config = json!({
        "model": model, "batch": SAMPLES, "sequence": TOKENS, "steps": 1, "card": "h100-80gb",
    });
    record(&changed(config, changes))
}

/// Runs two steps of linear layers.
#[track_caller]
fn mlp(changes: &Value) -> Recorded {
    let config = json!({ "model": recorded::mlp(), "batch": BATCH, "steps": 2, "card": "h100-80gb" });
    record(&changed(config, changes))
}

/// Returns the bytes of `numbers` 32-bit numbers for each token.
fn of_tokens(numbers: u64) -> u64 {
    4 * SAMPLES * TOKENS * numbers
}

/// Returns the live bytes of each layer except the first when backward begins; the first also has cuBLAS's workspace.
fn kept_in_layers(checkpointing: &Value) -> [u64; 3] {
    let recorded = gpt2(&json!({ "checkpointing": checkpointing }));
    [1, 2, 3].map(|layer| {
        let inside = format!("layers.{layer}.");
        recorded.bytes_before_backward(|place| place.starts_with(&inside) && place.ends_with("· forward"))
    })
}

#[test]
fn every_second_layer_keeps_its_activations() {
    let [all, _, _] = kept_in_layers(&json!(false));
    assert_eq!(kept_in_layers(&json!(false)), [all; 3]);
    assert_eq!(kept_in_layers(&json!(true)), [0; 3]);
    assert_eq!(kept_in_layers(&json!({ "every": 2 })), [0, all, 0]);
    assert_eq!(kept_in_layers(&json!({ "every": 4 })), [all, all, 0]);
}

#[test]
fn chosen_results_are_kept() {
    // The joint projection of queries, keys and values, attention's output projection, and the two layers of the
    // feed-forward network.
    let products = of_tokens(3 * HIDDEN + HIDDEN + INNER + HIDDEN);
    assert_eq!(kept_in_layers(&json!({ "keep": "matmul" })), [products; 3]);
    // The output of attention, and a log-sum-exp for each head.
    let attention = of_tokens(HIDDEN + HEADS);
    assert_eq!(kept_in_layers(&json!({ "keep": "attention", "every": 2 }))[0], attention);
}

#[test]
fn there_is_one_chunk_of_logits_at_a_time() {
    let logits = of_tokens(VOCABULARY);
    assert_eq!(gpt2(&json!({})).peak_bytes("head · forward"), logits);
    // A chunk of several sequences is copied for the head.
    let all = logits + of_tokens(HIDDEN);
    for chunks in [2, 8] {
        let recorded = gpt2(&json!({ "loss": { "chunks": chunks } }));
        assert_eq!(recorded.peak_bytes("head · forward"), 0);
        assert_eq!(recorded.peak_bytes("head · loss"), all / chunks, "{chunks} chunks");
        assert_eq!(recorded.peak_bytes("head · recompute"), WORKSPACE_BYTES + all / chunks, "{chunks} chunks");
    }
}

#[test]
fn state_of_8_bits_is_two_bytes_an_element_and_two_scales_a_block() {
    let bytes = |elements: u64| {
        if elements < SMALL_ELEMENTS {
            return 2 * rounded_bytes(&[elements]);
        }
        2 * (elements.next_multiple_of(512) + rounded_bytes(&[elements.div_ceil(256)]))
    };
    let tables = rounded_bytes(&[256, 256]);
    let expected = tables + PARAMETERS.map(bytes).iter().sum::<u64>();
    for kind in ["adam", "adamw"] {
        let recorded = mlp(&json!({ "optimizer": { "kind": kind, "state": "8bit" } }));
        assert_eq!(recorded.alive_bytes(" · optimizer"), expected, "{kind}");
    }
}

#[test]
fn only_small_parameters_have_state_on_the_device() {
    let small: Vec<_> = PARAMETERS.into_iter().filter(|elements| *elements < SMALL_ELEMENTS).collect();
    for gradients in [false, true] {
        let optimizer = json!({ "offload": true, "offload_gradients": gradients });
        let recorded = mlp(&json!({ "optimizer": optimizer }));
        // The fused kernel counts steps on the device.
        let expected = 2 * rounded_bytes(&small) + rounded_bytes(&vec![1; small.len()]);
        assert_eq!(recorded.alive_bytes(" · optimizer"), expected);
        assert_eq!(recorded.weight_bytes(), rounded_bytes(&PARAMETERS));
    }
}

#[test]
fn what_backward_needs_waits_on_the_host() {
    let kept = |on_host: bool| {
        let recorded = mlp(&json!({ "offload_activations": on_host }));
        recorded.bytes_before_backward(|place| place.ends_with("· forward"))
    };
    // The activations' outputs. The script itself holds the logits, and cuBLAS's workspace is live in both cases.
    assert_eq!(kept(false) - kept(true), 4 * BATCH * (700 + 500));
}
