//! Tests the memory of CNNs that are lists of layers against arithmetic.

use serde_json::json;

use crate::recorded::{Recorded, record, rounded_bytes};

const SAMPLES: u64 = 4;
const CHANNELS: u64 = 8;
const SIDE: u64 = 16;
/// Bytes of a batch of images with [`CHANNELS`] channels.
const IMAGE_BYTES: u64 = 4 * SAMPLES * CHANNELS * SIDE * SIDE;

fn train(layers: &[&str]) -> Recorded {
    record(&json!({
        "model": { "family": "cnn", "input": 2, "image_size": SIDE, "layers": layers },
        "batch": SAMPLES, "steps": 2, "card": "h100-80gb", "optimizer": { "kind": "sgd", "momentum": 0.9 },
    }))
}

/// Returns the bytes of a norm's and an activation's outputs that are live before backward.
fn kept(activation: &str) -> [u64; 2] {
    let recorded = train(&["conv 8 3 padding 1", "norm", activation, "flatten", "linear 10"]);
    let name = activation.split(' ').next().expect("a name");
    ["layers.1.norm · forward".to_owned(), format!("layers.2.{name} · forward")]
        .map(|module| recorded.bytes_before_backward(|place| place == module))
}

#[test]
fn an_activation_in_place_takes_its_inputs_memory() {
    let [norm, relu] = kept("relu");
    assert_eq!(relu, IMAGE_BYTES);
    assert_eq!(kept("relu inplace"), [norm + IMAGE_BYTES, 0]);
    // GELU saves its input.
    assert_eq!(kept("gelu"), [norm + IMAGE_BYTES, IMAGE_BYTES]);
}

#[test]
fn weights_are_as_the_layers_say() {
    let recorded = train(&["conv 8 3 groups 2 no_bias", "relu", "pool 2", "flatten", "norm", "linear 10"]);
    let features = CHANNELS * 7 * 7;
    for (place, elements) in [
        ("layers.0.conv.weight", CHANNELS * 9),
        ("layers.4.norm.weight", features),
        ("layers.5.linear.weight", 10 * features),
        ("layers.5.linear.bias", 10),
    ] {
        assert_eq!(recorded.alive_bytes(&format!("{place} · setup")), rounded_bytes(&[elements]), "{place}");
    }
    assert_eq!(recorded.alive_bytes("layers.0.conv.bias · setup"), 0);
}
