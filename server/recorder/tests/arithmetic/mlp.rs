//! Tests the memory of an MLP against arithmetic.

use crate::recorded::{Recorded, changed, mlp, record, rounded_bytes};
use serde_json::{Value, json};

const WEIGHTS: [u64; 3] = [700 * 300, 500 * 700, 10 * 500];
const BIASES: [u64; 3] = [700, 500, 10];

#[track_caller]
fn train(changes: &Value) -> Recorded {
    let (model, optimizer) = (changed(mlp(), changes), json!({ "kind": "sgd", "momentum": 0.0 }));
    record(&json!({ "model": model, "batch": 64, "steps": 1, "card": "h100-80gb", "optimizer": optimizer }))
}

#[test]
fn parameters_take_their_rounded_size() {
    let recorded = train(&json!({}));
    assert_eq!(recorded.alive_bytes(".weight · setup"), rounded_bytes(&WEIGHTS));
    assert_eq!(recorded.alive_bytes(".bias · setup"), rounded_bytes(&BIASES));
    assert_eq!(recorded.alive_bytes("head.weight · setup"), rounded_bytes(&WEIGHTS[2..]));
}

#[test]
fn a_step_keeps_nothing() {
    let recorded = record(&json!({
        "model": mlp(), "batch": 64, "steps": 4, "card": "h100-80gb", "accumulation": 2,
        "evaluation": { "batches": 2, "no_grad": false },
    }));
    let ends = recorded.live_bytes_at_step_ends();
    assert_eq!(ends[1..], [ends[1]; 3]);
}

#[test]
fn layers_can_do_without_a_bias() {
    let recorded = train(&json!({ "bias": false }));
    assert_eq!(recorded.alive_bytes(" · setup"), rounded_bytes(&WEIGHTS));
}

#[test]
fn dropout_keeps_a_byte_for_each_element() {
    let hidden = [64 * 700, 64 * 500];
    let (plain, dropped) = (train(&json!({})), train(&json!({ "dropout": 0.1 })));
    for (index, elements) in hidden.into_iter().enumerate() {
        let place = format!("layers.{index}.dropout · forward");
        assert_eq!(dropped.peak_bytes(&place), 5 * elements, "a value of 4 bytes and a mask of 1");
        assert_eq!(plain.peak_bytes(&place), 0);
    }
}

#[test]
fn activations_are_named() {
    for activation in ["relu", "gelu", "tanh"] {
        let recorded = train(&json!({ "activation": activation }));
        assert_eq!(recorded.peak_bytes("layers.0.activation · forward"), 4 * 64 * 700, "{activation}");
    }
}
