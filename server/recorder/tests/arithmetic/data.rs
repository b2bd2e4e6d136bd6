//! Tests the memory of batches and of their transfer to the device against arithmetic.

use serde_json::{Value, json};
use shared::job::BatchSize;

use crate::recorded::{Recorded, changed, job, record};

const SAMPLES: u64 = 8;
const INPUTS: u64 = 300;
const CLASSES: u64 = 10;
const TOKENS: u64 = 64;
const STEPS: u64 = 6;
const SIDE: u64 = 64;
const PIXELS: u64 = 3 * SIDE * SIDE;

/// Returns a config with this model, these keys of `data`, and further changes.
fn config(model: &Value, data: &Value, changes: &Value) -> Value {
    let config = json!({
        "model": model, "batch": SAMPLES, "steps": STEPS, "card": "h100-80gb", "optimizer": "sgd", "data": data,
    });
    changed(config, changes)
}

fn vectors(data: &Value) -> Recorded {
    let model = json!({ "family": "mlp", "input": INPUTS, "hidden": [40], "classes": CLASSES });
    record(&config(&model, data, &json!({})))
}

fn images(data: &Value) -> Recorded {
    record(&config(&json!({ "preset": "resnet18", "image_size": SIDE }), data, &json!({})))
}

fn tokens(data: &Value) -> Value {
    let model = json!({
        "family": "transformer", "architecture": "gpt2", "layers": 1, "hidden": 32, "heads": 2, "vocabulary": 500,
    });
    config(&model, data, &json!({ "sequence": TOKENS, "evaluation": { "every": 3, "batches": 2, "batch": 5 } }))
}

/// Returns the batch sizes of a config in order: after three steps of training, those of an evaluation.
fn sizes(config: &Value) -> Vec<BatchSize> {
    let job = job(config);
    let training = job.training_batches();
    training.chunks(3).flat_map(|steps| [steps.to_vec(), job.evaluation_batches()].concat()).collect()
}

#[test]
fn batches_have_the_sizes_that_were_drawn() {
    for data in [
        json!({ "lengths": "long-tailed", "seed": 5 }),
        json!({ "lengths": "uniform", "shortest": 9, "pad_to_multiple_of": 8, "batches": "uniform", "samples": 20 }),
    ] {
        let config = tokens(&data);
        let recorded = record(&config);
        let sizes = sizes(&config);
        let differ = sizes.iter().filter(|size| **size != sizes[0]).count();
        assert!(differ > 2, "{sizes:?}");
        let mut loaded = recorded.requested_bytes(0, "inputs · data");
        let of_evaluations = recorded.requested_bytes(0, "inputs · evaluation");
        loaded.splice(3..3, of_evaluations[..2].iter().copied());
        loaded.extend(&of_evaluations[2..]);
        let bytes: Vec<_> = sizes.iter().map(|size| 8 * size.samples * size.length).collect();
        assert_eq!(loaded, bytes, "{data}");
    }
}

#[test]
fn images_vary_in_both_directions() {
    let data = json!({ "lengths": "uniform", "shortest": 96 });
    let config = config(&json!({ "preset": "resnet18" }), &data, &json!({}));
    let bytes: Vec<_> =
        job(&config).training_batches().iter().map(|size| 4 * size.samples * 3 * size.length.pow(2)).collect();
    assert_eq!(record(&config).requested_bytes(0, "images · data"), bytes);
}

#[test]
fn the_last_batch_is_what_is_left() {
    let loaded = |data: &Value| vectors(data).requested_bytes(0, "inputs · data");
    let bytes = |samples: [u64; 6]| samples.map(|samples| 4 * samples * INPUTS);
    assert_eq!(loaded(&json!({ "samples": 19 })), bytes([8, 8, 3, 8, 8, 3]));
    assert_eq!(loaded(&json!({ "samples": 19, "drop_last": true })), bytes([8; 6]));
}

#[test]
fn batches_ahead_are_there_beside_the_one_in_use() {
    let batch = 4 * SAMPLES * INPUTS;
    let peak = |prefetch: u64| vectors(&json!({ "prefetch": prefetch })).peak_bytes("inputs · data");
    // The previous batch is live until the next one replaces it.
    assert_eq!(peak(0), 2 * batch);
    // Another batch is prefetched before that.
    assert_eq!(peak(1), 3 * batch);
    assert_eq!(peak(3), 5 * batch);
    let recorded = vectors(&json!({ "prefetch": 3, "pin_memory": true }));
    assert_eq!(recorded.requested_bytes(0, "inputs · data"), [batch; STEPS as usize], "none is loaded in vain");
}

#[test]
fn a_buffer_is_there_once() {
    let recorded = vectors(&json!({ "reuse_buffer": true, "samples": 19 }));
    assert_eq!(recorded.requested_bytes(0, "inputs · data"), [4 * SAMPLES * INPUTS]);
    assert_eq!(recorded.requested_bytes(0, "labels · data"), [8 * SAMPLES]);
    let recorded = record(&tokens(&json!({ "reuse_buffer": true, "lengths": "uniform" })));
    assert_eq!(recorded.requested_bytes(0, "inputs · data"), [8 * SAMPLES * TOKENS], "as large as the longest");
}

#[test]
fn bytes_become_numbers_on_the_device() {
    let bytes = SAMPLES * PIXELS;
    let plain = images(&json!({}));
    assert_eq!(plain.requested_bytes(0, "images · data"), [4 * bytes; STEPS as usize]);
    let in_place = images(&json!({ "normalize": "in-place" }));
    assert_eq!(in_place.requested_bytes(0, "images · data"), [bytes; STEPS as usize]);
    assert_eq!(in_place.requested_bytes(0, "normalize · data"), [4 * bytes; STEPS as usize]);
    let out_of_place = images(&json!({ "normalize": "out-of-place" }));
    assert_eq!(out_of_place.requested_bytes(0, "normalize · data"), [4 * bytes; 3 * STEPS as usize]);
    assert_eq!(out_of_place.peak_bytes("normalize · data"), 2 * 4 * bytes);
}
