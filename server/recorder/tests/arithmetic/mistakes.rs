//! Tests the memory of mistakes against arithmetic, by the live bytes at the end of each step.

use crate::recorded::{Recorded, record};
use serde_json::{Value, json};

const SAMPLES: u64 = 64;
const INPUTS: u64 = 300;
const HIDDEN: u64 = 700 + 500;
const CLASSES: u64 = 10;

const SCALAR_BYTES: u64 = 4;
const BATCH_BYTES: u64 = 4 * SAMPLES * INPUTS + 8 * SAMPLES;
const OUTPUT_BYTES: u64 = 4 * SAMPLES * CLASSES;
const WEIGHT_BYTES: u64 = 4 * (701 * 500 + 301 * 700 + 501 * 10);
/// Bytes that backward needs besides the batch: the activations' outputs, the log-probabilities, and the loss's weight.
const GRAPH_BYTES: u64 = 4 * SAMPLES * (HIDDEN + CLASSES) + SCALAR_BYTES;

fn train(changes: &Value) -> Recorded {
    let mut config = json!({
        "model": { "family": "mlp", "input": INPUTS, "hidden": [700, 500], "classes": CLASSES },
        "batch": SAMPLES, "steps": 4, "card": "h100-80gb", "optimizer": { "kind": "sgd", "momentum": 0.0 },
    });
    for (key, value) in changes.as_object().expect("keys") {
        config[key] = value.clone();
    }
    record(&config)
}

/// Returns the live bytes at the end of the second step, and the growth in each later step.
#[track_caller]
fn ends(changes: &Value) -> (u64, u64) {
    let ends = train(changes).live_bytes_at_step_ends();
    let [_, second, third, fourth] = ends[..] else { panic!("four steps: {ends:?}") };
    assert_eq!(third - second, fourth - third, "{ends:?}");
    (second, third - second)
}

#[track_caller]
fn check_growth(changes: &Value, bytes: u64) {
    assert_eq!(ends(changes).1, bytes, "{changes}");
}

#[test]
fn a_plain_loop_keeps_nothing() {
    check_growth(&json!({}), 0);
    check_growth(&json!({ "accumulation": 2, "evaluation": { "batches": 2, "no_grad": false } }), 0);
}

#[test]
fn kept_losses_are_scalars() {
    check_growth(&json!({ "mistakes": ["keep_losses"] }), SCALAR_BYTES);
    check_growth(&json!({ "mistakes": ["keep_losses"], "accumulation": 3 }), 3 * SCALAR_BYTES);
}

#[test]
fn kept_losses_hold_graphs_that_are_retained() {
    let bytes = SCALAR_BYTES + GRAPH_BYTES + BATCH_BYTES;
    check_growth(&json!({ "mistakes": ["keep_losses", "retain_graph"] }), bytes);
}

#[test]
fn what_is_kept_grows_by_its_size() {
    check_growth(&json!({ "mistakes": ["keep_outputs_forever"] }), OUTPUT_BYTES);
    check_growth(&json!({ "mistakes": ["keep_outputs_forever"], "keep_outputs": false }), OUTPUT_BYTES);
    check_growth(&json!({ "mistakes": ["keep_batches"], "accumulation": 2 }), 2 * BATCH_BYTES);
    check_growth(&json!({ "mistakes": ["keep_gradients"] }), WEIGHT_BYTES);
}

#[test]
fn kept_losses_of_an_evaluation_hold_its_graphs() {
    let changes = |no_grad: bool| json!({ "mistakes": ["keep_evaluation_losses"], "evaluation": { "batches": 2, "no_grad": no_grad } });
    check_growth(&changes(true), 2 * SCALAR_BYTES);
    check_growth(&changes(false), 2 * (SCALAR_BYTES + GRAPH_BYTES + BATCH_BYTES));
}

#[test]
fn a_graph_or_gradients_that_stay_are_there_once() {
    let (plain, _) = ends(&json!({}));
    assert_eq!(ends(&json!({ "mistakes": ["retain_graph"] })), (plain + GRAPH_BYTES, 0));
    assert_eq!(ends(&json!({ "mistakes": ["never_zero_grad"] })), (plain + WEIGHT_BYTES, 0));
}

#[test]
fn one_backward_for_all_has_all_graphs_at_once() {
    let activations = |mistakes: &[&str]| {
        let recorded = train(&json!({ "accumulation": 3, "mistakes": mistakes }));
        recorded.bytes_before_backward(|place| place.ends_with("activation · forward"))
    };
    assert_eq!(activations(&[]), 4 * SAMPLES * HIDDEN);
    assert_eq!(activations(&["backward_once"]), 3 * 4 * SAMPLES * HIDDEN);
}

#[test]
fn an_emptied_cache_is_asked_for_again() {
    // The activations have 44 MiB, so that each gets a segment of its own.
    let plain = train(&json!({ "batch": 16384 }));
    let emptied = train(&json!({ "batch": 16384, "mistakes": ["empty_cache_every_step"] }));
    assert_eq!(plain.segments_returned(), 0);
    assert!(emptied.segments_returned() >= 4, "{}", emptied.segments_returned());
    assert_eq!(plain.live_bytes_at_step_ends(), emptied.live_bytes_at_step_ends());
}
