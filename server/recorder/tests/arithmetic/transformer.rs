//! Tests the memory of transformers against arithmetic.

use serde_json::{Value, json};

use crate::recorded::{Recorded, changed, job, record, rounded_bytes, sorted};

const SAMPLES: u64 = 2;
const TOKENS: u64 = 128;
const HIDDEN: u64 = 256;
const INNER: u64 = 768;
const HEADS: u64 = 4;
const VOCABULARY: u64 = 1000;

/// Operation of each attention backend, by the backend's name.
const BACKENDS: [(&str, &str); 4] = [
    ("flash", "aten::_scaled_dot_product_flash_attention"),
    ("efficient", "aten::_scaled_dot_product_efficient_attention"),
    ("cudnn", "aten::_scaled_dot_product_cudnn_attention"),
    ("math", "aten::_scaled_dot_product_attention_math"),
];

/// Returns a config of two layers; `changes` override keys of the config and of its model.
fn config(architecture: &str, changes: &Value) -> Value {
    let config = json!({
        "model": {
            "family": "transformer", "architecture": architecture, "layers": 2, "hidden": HIDDEN,
            "intermediate": INNER, "heads": HEADS, "vocabulary": VOCABULARY, "max_positions": TOKENS,
        },
        "batch": SAMPLES, "sequence": TOKENS, "steps": 2, "card": "h100-80gb",
    });
    changed(config, changes)
}

/// Returns the number of elements of each of GPT-2's parameters, in order.
fn gpt2_parameters() -> Vec<u64> {
    let norm = [HIDDEN; 2];
    let attention = [HIDDEN * 3 * HIDDEN, 3 * HIDDEN, HIDDEN * HIDDEN, HIDDEN];
    let mlp = [HIDDEN * INNER, INNER, INNER * HIDDEN, HIDDEN];
    let layer: Vec<_> = norm.into_iter().chain(attention).chain(norm).chain(mlp).collect();
    [VOCABULARY * HIDDEN, TOKENS * HIDDEN].into_iter().chain(layer.repeat(2)).chain(norm).collect()
}

/// Returns the number of elements of each of Llama's parameters, in order, with two heads of keys and values.
fn llama_parameters() -> Vec<u64> {
    let attention = [HIDDEN * HIDDEN, HIDDEN * HIDDEN / 2, HIDDEN * HIDDEN / 2, HIDDEN * HIDDEN];
    let layer: Vec<_> = attention.into_iter().chain([HIDDEN * INNER; 3]).chain([HIDDEN; 2]).collect();
    let (embedding, head) = (VOCABULARY * HIDDEN, VOCABULARY * HIDDEN);
    std::iter::once(embedding).chain(layer.repeat(2)).chain([HIDDEN, head]).collect()
}

#[track_caller]
fn check_kept_for_training(recorded: &Recorded, parameters: &[u64]) {
    assert_eq!(recorded.weight_bytes(), rounded_bytes(parameters), "parameters");
    for average in [".exp_avg · optimizer", ".exp_avg_sq · optimizer"] {
        assert_eq!(recorded.alive_bytes(average), rounded_bytes(parameters), "{average}");
    }
    assert_eq!(recorded.elements("· backward"), sorted(parameters.iter().copied()), "gradients");
}

#[test]
fn gpt2_keeps_what_it_must() {
    check_kept_for_training(&record(&config("gpt2", &json!({ "set_to_none": false }))), &gpt2_parameters());
}

#[test]
fn llama_keeps_what_it_must() {
    let recorded = record(&config("llama", &json!({ "set_to_none": false, "model": { "kv_heads": 2 } })));
    check_kept_for_training(&recorded, &llama_parameters());
    let frequencies = HIDDEN / HEADS / 2;
    assert_eq!(recorded.alive_bytes("inv_freq · setup"), rounded_bytes(&[frequencies; 2]));
}

/// Checks that a model with other parts has as many parameters as the job computes.
#[track_caller]
fn check_parts(architecture: &str, parts: &Value) {
    let config = config(architecture, &json!({ "model": parts }));
    let job = job(&config);
    let mut tensors = record(&config).alive();
    tensors.retain(|tensor| tensor.place.ends_with("· setup") && !tensor.place.contains("inv_freq"));
    let elements: u64 = tensors.iter().map(|tensor| tensor.requested_bytes / 4).sum();
    assert_eq!(elements, job.parameters(), "{parts}");
}

#[test]
fn parts_can_be_exchanged() {
    for activation in ["gelu_new", "gelu", "gelu_tanh", "relu", "swiglu"] {
        check_parts("gpt2", &json!({ "activation": activation, "norm": "rms_norm" }));
        check_parts("llama", &json!({ "activation": activation, "norm": "layer_norm" }));
    }
    check_parts("gpt2", &json!({ "attention_bias": false, "mlp_bias": false, "tied_head": false }));
    check_parts("llama", &json!({ "attention_bias": true, "mlp_bias": true, "tied_head": true }));
    check_parts("gpt2", &json!({ "positions": "rotary", "dropout": 0.0 }));
    check_parts("llama", &json!({ "positions": "learned", "dropout": 0.1, "kv_heads": 1, "attention": "eager" }));
}

/// Returns the bytes per token that the second layer saves for backward; the first one also has workspaces.
#[track_caller]
fn kept_bytes_of_a_token(config: &Value) -> f64 {
    let kept = |place: &str| place.starts_with("layers.1") && place.ends_with(" · forward");
    let bytes = record(config).bytes_before_backward(kept);
    bytes as f64 / (SAMPLES * TOKENS) as f64
}

#[track_caller]
fn check_kept_for_backward(config: &Value, bytes_of_a_token: u64) {
    let kept = kept_bytes_of_a_token(config);
    // Attention saves two numbers, the state of its dropout, for all tokens together.
    let difference = kept - bytes_of_a_token as f64;
    assert!((0.0..0.1).contains(&difference), "{kept} bytes of a token, not {bytes_of_a_token}");
}

#[test]
fn a_layer_of_gpt2_keeps_for_backward() {
    let norms = 2 * (HIDDEN + 2);
    let attention = 3 * HIDDEN + HIDDEN + HEADS;
    let cache = 2 * HIDDEN;
    let sums = 2 * HIDDEN;
    // The input, its half, the hyperbolic tangent, that plus 1, and the output.
    let mlp = 5 * INNER;
    let masks = 2 * HIDDEN;
    let bytes = 4 * (norms + attention + sums + mlp) + masks;
    check_kept_for_backward(&config("gpt2", &json!({})), bytes + 4 * cache);
    check_kept_for_backward(&config("gpt2", &json!({ "model": { "use_cache": false } })), bytes);
}

#[test]
fn a_layer_of_gpt2_that_writes_attention_out_keeps_for_backward() {
    let norms = 2 * (HIDDEN + 2);
    // Queries are copied; keys and values are the copies in the cache, so that the projection is not saved.
    let attention = 3 * HIDDEN + HIDDEN;
    let probabilities = HEADS * TOKENS;
    let sums = 2 * HIDDEN;
    let mlp = 5 * INNER;
    let masks = 2 * HIDDEN + probabilities;
    let bytes = 4 * (norms + attention + 2 * probabilities + sums + mlp) + masks;
    check_kept_for_backward(&config("gpt2", &json!({ "model": { "attention": "eager" } })), bytes);
}

#[test]
fn a_layer_of_llama_keeps_for_backward() {
    let kv = HIDDEN / 2;
    // The input in 32 bits, so that its 16-bit original is not saved; the factor of each token; and in 16 bits the
    // normalized features before and after the multiplication by the weight.
    let norms = 2 * (4 * HIDDEN + 4 + 2 * 2 * HIDDEN);
    let attention = 2 * (HIDDEN + 2 * kv + HIDDEN) + 4 * HEADS;
    // The gate, its activation, the features that it multiplies, and the product.
    let mlp = 2 * 4 * INNER;
    let changes = json!({ "precision": "bf16", "model": { "kv_heads": 2 } });
    check_kept_for_backward(&config("llama", &changes), norms + attention + mlp);
}

#[test]
fn a_checkpointed_layer_keeps_its_output_only() {
    for architecture in ["gpt2", "llama"] {
        let config = config(architecture, &json!({ "checkpointing": true }));
        let recorded = record(&config);
        assert_eq!(kept_bytes_of_a_token(&config), (4 * HIDDEN) as f64, "{architecture}");
        let again = |module: &str| recorded.peak_bytes(&format!("layers.1.{module} · recompute"));
        assert_eq!(again("mlp.up"), 4 * SAMPLES * TOKENS * INNER, "{architecture}");
        // The second run ends at the last tensor that backward needs, so that the sum after it is not recomputed.
        let sums = recorded.peak_bytes("layers.1 · recompute");
        assert_eq!(sums, 4 * SAMPLES * TOKENS * HIDDEN, "{architecture}: one of the two");
    }
}

/// Checks which backend attention uses; `None` for eager attention.
#[track_caller]
fn check_backend(card: &str, precision: &str, attention: &str, expected: Option<&str>) {
    let changes = json!({ "card": card, "precision": precision, "model": { "attention": attention } });
    let recorded = record(&config("gpt2", &changes));
    let operations = recorded.operations("layers.1.attention · forward");
    let taken = BACKENDS.into_iter().filter(|(_, operation)| operations.contains(*operation)).map(|(name, _)| name);
    assert_eq!(taken.collect::<Vec<_>>(), Vec::from_iter(expected), "{card} {precision} {attention}: {operations:?}");
}

#[test]
fn attention_takes_what_pytorch_picks_for_the_card() {
    check_backend("h100-80gb", "fp32", "sdpa", Some("efficient"));
    check_backend("h100-80gb", "bf16", "sdpa", Some("cudnn"));
    check_backend("h100-80gb", "autocast-fp16", "sdpa", Some("cudnn"));
    check_backend("a100-80gb", "bf16", "sdpa", Some("flash"));
    check_backend("t4-16gb", "autocast-fp16", "sdpa", Some("efficient"));
    check_backend("t4-16gb", "bf16", "sdpa", Some("math"));
}

#[test]
fn attention_takes_what_it_is_told() {
    for (backend, _) in BACKENDS {
        check_backend("h100-80gb", "bf16", backend, Some(backend));
    }
    check_backend("h100-80gb", "bf16", "eager", None);
}

#[test]
fn logits_are_widened_for_the_loss() {
    let logits = SAMPLES * TOKENS * VOCABULARY;
    let bf16 = record(&config("gpt2", &json!({ "precision": "bf16", "steps": 1 })));
    assert_eq!(bf16.peak_bytes("head · forward"), 2 * logits);
    let shifted = 8 * SAMPLES * (TOKENS + 1) + 8 * SAMPLES * TOKENS;
    let probabilities = 4 * logits;
    let loss_and_weight = 8;
    assert_eq!(bf16.peak_bytes("cross_entropy · loss"), 4 * logits + shifted + probabilities + loss_and_weight);
}
