//! Tests the memory of residual networks against arithmetic.

use crate::recorded::{Recorded, changed, record, rounded_bytes};
use serde_json::{Value, json};

/// Number of elements of each convolution, and channels of the batch norm after it.
struct Shapes {
    convolutions: Vec<u64>,
    channels: Vec<u64>,
    classifier: [u64; 2],
}

impl Shapes {
    /// Creates the shapes of a network.
    ///
    /// `block` yields the convolutions of a block of a width as (channels, kernel), and `counts` the number of blocks.
    fn new(block: fn(u64) -> Vec<(u64, u64)>, counts: [u64; 4]) -> Self {
        let (mut convolutions, mut channels) = (vec![64 * 3 * 7 * 7], vec![64]);
        let mut inputs = 64;
        for (width, count) in [64, 128, 256, 512].into_iter().zip(counts) {
            for _ in 0..count {
                let mut features = inputs;
                for (outputs, kernel) in block(width) {
                    convolutions.push(outputs * features * kernel * kernel);
                    channels.push(outputs);
                    features = outputs;
                }
                if features != inputs {
                    convolutions.push(features * inputs);
                    channels.push(features);
                }
                inputs = features;
            }
        }
        Self { convolutions, channels, classifier: [1000 * inputs, 1000] }
    }

    fn of(depth: u64) -> Self {
        match depth {
            18 => Self::new(|width| vec![(width, 3); 2], [2, 2, 2, 2]),
            _ => Self::new(|width| vec![(width, 1), (width, 3), (4 * width, 1)], [3, 4, 6, 3]),
        }
    }

    /// Returns the number of elements of each parameter.
    fn parameters(&self) -> Vec<u64> {
        let norms = self.channels.iter().flat_map(|&channels| [channels; 2]);
        self.convolutions.iter().copied().chain(norms).chain(self.classifier).collect()
    }
}

#[track_caller]
fn train(depth: u64, changes: &Value) -> Recorded {
    let config = json!({
        "model": { "family": "resnet", "depth": depth },
        "batch": 4, "steps": 2, "card": "h100-80gb", "optimizer": { "kind": "sgd", "momentum": 0.9 },
    });
    record(&changed(config, changes))
}

#[test]
fn shapes_are_those_that_torchvision_counts() {
    assert_eq!(Shapes::of(18).parameters().iter().sum::<u64>(), 11_689_512);
    assert_eq!(Shapes::of(50).parameters().iter().sum::<u64>(), 25_557_032);
}

#[track_caller]
fn check_kept(depth: u64, recorded: &Recorded) {
    let shapes = Shapes::of(depth);
    let parameters = rounded_bytes(&shapes.parameters());
    assert_eq!(recorded.weight_bytes(), parameters, "parameters");
    assert_eq!(recorded.alive_bytes(".momentum_buffer · optimizer"), parameters, "momentum");
    for statistics in ["running_mean", "running_var"] {
        assert_eq!(recorded.alive_bytes(&format!(".{statistics} · setup")), rounded_bytes(&shapes.channels));
    }
    let counts = recorded.alive_bytes(".num_batches_tracked · setup");
    assert_eq!(counts, rounded_bytes(&vec![2; shapes.channels.len()]), "a number of 8 bytes each");
}

#[test]
fn resnet18_keeps_what_it_must() {
    check_kept(18, &train(18, &json!({})));
}

#[test]
fn channels_last_keeps_the_same() {
    check_kept(18, &train(18, &json!({ "model": { "channels_last": true } })));
}

#[test]
fn gradients_take_what_the_parameters_take() {
    let recorded = train(18, &json!({ "set_to_none": false }));
    let elements = recorded.elements("· backward");
    assert_eq!(elements.len(), Shapes::of(18).parameters().len());
    assert_eq!(rounded_bytes(&elements), rounded_bytes(&Shapes::of(18).parameters()));
}

#[test]
fn blocks_have_torchvisions_names() {
    let recorded = train(18, &json!({}));
    let weight = rounded_bytes(&[128 * 64]);
    assert_eq!(recorded.alive_bytes("layer2.0.downsample.0.weight · setup"), weight);
    // In the first layer, images of 224 × 224 pixels have 56 × 56.
    let output_bytes = 4 * 4 * 64 * 56 * 56;
    assert_eq!(recorded.peak_bytes("layer1.1.conv2 · forward"), output_bytes);
}

#[test]
fn resnet50_keeps_what_it_must_and_with_checkpointing_takes_less() {
    let (plain, checkpointed) = (train(50, &json!({})), train(50, &json!({ "checkpointing": true })));
    check_kept(50, &plain);
    check_kept(50, &checkpointed);
    assert!(checkpointed.peak_live_bytes() < plain.peak_live_bytes());
    assert!(checkpointed.peak_bytes("layer1.0.conv1 · recompute") > 0);
    assert_eq!(plain.peak_bytes("layer1.0.conv1 · recompute"), 0);
}
