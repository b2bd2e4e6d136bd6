//! Tests the memory of adapters against arithmetic.

use serde_json::{Value, json};

use crate::recorded::{job, record, rounded_bytes};

const LAYERS: u64 = 2;
const HIDDEN: u64 = 256;
const INNER: u64 = 768;
const RANK: u64 = 16;

fn config(precision: &str, lora: &Value) -> Value {
    json!({
        "model": {
            "family": "transformer", "architecture": "llama", "layers": LAYERS, "hidden": HIDDEN,
            "intermediate": INNER, "heads": 4, "kv_heads": 2, "vocabulary": 1000, "max_positions": 128,
        },
        "batch": 2, "sequence": 128, "steps": 2, "card": "h100-80gb", "set_to_none": false,
        "precision": precision, "lora": lora,
    })
}

/// Checks the live memory of adapters with these numbers of input and output features.
#[track_caller]
fn check_kept(precision: &str, targets: &[&str], inputs: &[u64], outputs: &[u64]) {
    let config = config(precision, &json!({ "rank": RANK, "targets": targets }));
    let job = job(&config);
    let recorded = record(&config);
    let matrices = |features: &[u64]| features.iter().map(|count| RANK * count).collect::<Vec<_>>().repeat(2);
    let (first, second) = (matrices(inputs), matrices(outputs));
    assert_eq!(recorded.alive_bytes("lora_a.weight · setup"), rounded_bytes(&first), "{targets:?}");
    assert_eq!(recorded.alive_bytes("lora_b.weight · setup"), rounded_bytes(&second), "{targets:?}");
    let adapters = [first, second].concat();
    assert_eq!(job.trained_parameters(), adapters.iter().sum::<u64>(), "{targets:?}");
    for average in [".exp_avg · optimizer", ".exp_avg_sq · optimizer"] {
        assert_eq!(recorded.alive_bytes(average), rounded_bytes(&adapters), "{targets:?}: {average}");
    }
    assert_eq!(recorded.elements("· backward").iter().sum::<u64>(), job.trained_parameters(), "{targets:?}");
}

#[test]
fn only_adapters_are_trained() {
    check_kept("fp32", &["q", "v"], &[HIDDEN; 2], &[HIDDEN, HIDDEN / 2]);
    check_kept("fp32", &["gate", "up", "down"], &[HIDDEN, HIDDEN, INNER], &[INNER, INNER, HIDDEN]);
}

#[test]
fn adapters_have_32_bits_beside_weights_in_16() {
    check_kept("bf16", &["k", "out"], &[HIDDEN; 2], &[HIDDEN / 2, HIDDEN]);
    let frozen = |lora: &Value| {
        let setup = record(&config("bf16", lora)).alive_bytes(".q.weight · setup");
        assert_eq!(setup, LAYERS * 2 * HIDDEN * HIDDEN, "{lora}");
    };
    frozen(&json!({}));
    frozen(&Value::Null);
}

#[test]
fn nothing_before_the_first_adapter_is_kept_for_backward() {
    let kept = |layer: u64, lora: &Value| {
        let norm = format!("layers.{layer}.attention_norm · forward");
        record(&config("fp32", lora)).bytes_before_backward(|place| place == norm)
    };
    // The normalized input is saved for the adapter's first matrix, and the factors for the norm's own backward.
    let (features, factors) = (4 * 2 * 128 * HIDDEN, 4 * 2 * 128);
    assert_eq!(kept(0, &json!({ "targets": ["q"] })), features);
    assert_eq!(kept(1, &json!({ "targets": ["q"] })), features + factors);
    assert_eq!(kept(0, &json!({ "targets": ["down"] })), 0);
}
