//! Tests the memory of a mixture of experts against arithmetic.

use serde_json::{Value, json};

use crate::recorded::{Recorded, record, rounded_bytes};

const HIDDEN: u64 = 64;
const INNER: u64 = 128;
const EXPERTS: u64 = 4;
const TOKENS: u64 = 2 * 128;
const PER_TOKEN: u64 = 2;

fn train(precision: &str, implementation: &Value) -> Recorded {
    let mut model = json!({
        "family": "transformer", "architecture": "llama", "layers": 1, "hidden": HIDDEN, "intermediate": INNER,
        "heads": 4, "vocabulary": 1000, "max_positions": 128, "experts": EXPERTS, "experts_per_token": PER_TOKEN,
    });
    for (key, value) in implementation.as_object().expect("keys") {
        model[key] = value.clone();
    }
    record(&json!({
        "model": model, "batch": 2, "sequence": 128, "steps": 2, "card": "h100-80gb", "precision": precision,
    }))
}

#[test]
fn every_expert_has_weights_and_every_token_its_activations() {
    for implementation in [
        json!({}),
        json!({ "experts_implementation": "eager" }),
        json!({ "experts_implementation": "eager", "routing": [5, 3, 2, 0] }),
    ] {
        let recorded = train("fp32", &implementation);
        let of = |place: &str| recorded.alive_bytes(&format!("layers.0.mlp.{place} · setup"));
        assert_eq!(of("router.weight"), rounded_bytes(&[EXPERTS * HIDDEN]), "{implementation}");
        assert_eq!(of("experts.gate_up"), rounded_bytes(&[EXPERTS * 2 * INNER * HIDDEN]), "{implementation}");
        assert_eq!(of("experts.down"), rounded_bytes(&[EXPERTS * HIDDEN * INNER]), "{implementation}");
        let activated = recorded.peak_bytes("layers.0.mlp.experts.activation · forward");
        assert_eq!(activated, 4 * TOKENS * PER_TOKEN * INNER, "{implementation}");
    }
}

#[test]
fn bf16_halves_what_experts_keep() {
    let activated = train("bf16", &json!({})).peak_bytes("layers.0.mlp.experts.activation · forward");
    assert_eq!(activated, 2 * TOKENS * PER_TOKEN * INNER);
}
