//! Tests the memory of one data-parallel process against arithmetic: buckets, and copies of outputs.

use crate::recorded::{Recorded, mlp, record};
use serde_json::{Value, json};

const FIRST: [u64; 2] = [300 * 700, 700];
const SECOND: [u64; 2] = [700 * 500, 500];
const HEAD: [u64; 2] = [500 * 10, 10];
const WEIGHTS: u64 = bytes(&[FIRST, SECOND, HEAD]);

/// Returns the bytes of layers, each given by its numbers of weights and biases.
const fn bytes(layers: &[[u64; 2]]) -> u64 {
    let (mut elements, mut index) = (0, 0);
    while index < layers.len() {
        elements += layers[index][0] + layers[index][1];
        index += 1;
    }
    4 * elements
}

fn train(parallel: &Value) -> Recorded {
    record(&json!({
        "model": mlp(), "batch": 64, "steps": 3, "card": "h100-80gb", "set_to_none": false, "parallel": parallel,
    }))
}

#[test]
fn buckets_are_laid_anew_once() {
    let recorded = train(&json!({ "kind": "ddp", "ranks": 8 }));
    assert_eq!(recorded.requested_bytes(0, "ddp.bucket 0 · setup"), [WEIGHTS]);
    // The gradients of the last layers come first, and fill a bucket of 1 MiB.
    assert_eq!(recorded.requested_bytes(0, "ddp.bucket 0 · forward"), [bytes(&[SECOND, HEAD])]);
    assert_eq!(recorded.requested_bytes(0, "ddp.bucket 1 · forward"), [bytes(&[FIRST])]);
    // At the start all weights are packed into one tensor for the broadcast.
    assert!(recorded.requested_bytes(0, "ddp · setup").contains(&WEIGHTS));
}

#[test]
fn buckets_have_the_size_that_is_asked_for() {
    let recorded = train(&json!({ "kind": "ddp", "ranks": 8, "bucket_mb": 2 }));
    assert_eq!(recorded.requested_bytes(0, "ddp.bucket 0 · forward"), [WEIGHTS]);
    assert!(recorded.requested_bytes(0, "ddp.bucket 1 · forward").is_empty());
}

#[test]
fn gradients_are_there_twice_unless_they_are_views() {
    let alive = |views: bool| {
        let parallel = json!({ "kind": "ddp", "ranks": 8, "gradient_as_bucket_view": views });
        train(&parallel).live_bytes_at_step_ends()
    };
    let (apart, views) = (alive(false), alive(true));
    assert_eq!(apart[2] - views[2], WEIGHTS);
}

#[test]
fn an_output_is_copied_where_unused_parameters_are_looked_for() {
    let recorded = train(&json!({ "kind": "ddp", "ranks": 8, "find_unused_parameters": true }));
    let logits = 4 * 64 * 10;
    let copies = recorded.requested_bytes(0, "ddp · forward").into_iter().filter(|size| *size == logits);
    assert_eq!(copies.count(), 3, "one a step");
}

#[test]
fn a_scaler_finds_no_infinity_in_what_was_copied_to_the_device() {
    let temporaries = |precision: &str| {
        let recorded = record(&json!({
            "model": "mlp", "batch": 64, "steps": 4, "card": "h100-80gb", "precision": precision,
            "parallel": { "kind": "ddp", "ranks": 8 },
        }));
        recorded.requested_bytes(0, "adamw · optimizer")
    };
    // Only float16 has a scaler, which would skip a step after an infinity.
    assert_eq!(temporaries("autocast-fp16"), temporaries("autocast-bf16"));
    assert!(!temporaries("autocast-fp16").is_empty());
}
