//! Tests the memory of `nn.DataParallel` against arithmetic: each replica's inputs, activations and copies.

use crate::recorded::{Recorded, record};
use serde_json::{Value, json};

const STEPS: usize = 2;
const DEVICES: u64 = 3;
const SAMPLES: u64 = 64;
/// Samples of each device, split as `torch.chunk` does.
const PARTS: [u64; 3] = [22, 22, 20];
const INPUTS: u64 = 300;
const HIDDEN: u64 = 700;
const CLASSES: u64 = 10;
const ACTIVATION: u64 = 4 * HIDDEN;
const WEIGHTS: u64 = 4 * ((INPUTS + 1) * HIDDEN + (HIDDEN + 1) * CLASSES);

fn train(parallel: &Value) -> Recorded {
    record(&json!({
        "model": { "family": "mlp", "input": INPUTS, "hidden": [HIDDEN], "classes": CLASSES },
        "batch": SAMPLES, "steps": STEPS, "card": "3x h100-80gb", "optimizer": "sgd", "parallel": parallel,
    }))
}

#[test]
fn each_device_has_a_replica_for_its_part_of_the_batch() {
    let recorded = train(&json!({ "kind": "data_parallel", "devices": DEVICES }));
    for (device, samples) in PARTS.into_iter().enumerate() {
        let activation = format!("replicas.{device}.layers.0.activation · forward");
        assert_eq!(recorded.requested_bytes(device, &activation), [ACTIVATION * samples; STEPS]);
    }
    // The first device reads its part in place, and packs the weights for the others.
    assert!(recorded.requested_bytes(0, "scatter · forward").is_empty());
    assert_eq!(recorded.requested_bytes(0, "replicate · forward"), [WEIGHTS; STEPS]);
    for device in [1, 2] {
        assert_eq!(recorded.requested_bytes(device, "scatter · forward"), [4 * INPUTS * PARTS[device]; STEPS]);
        assert_eq!(recorded.requested_bytes(device, "replicate · forward"), [WEIGHTS; STEPS]);
    }
    // The gathered logits, and the sum of all devices' gradients.
    assert_eq!(recorded.requested_bytes(0, "gather · forward"), [4 * CLASSES * SAMPLES; STEPS]);
    let backward = recorded.requested_bytes(0, "replicate · backward");
    assert_eq!(backward, [WEIGHTS; 2 * STEPS], "flattened, and summed");
}

#[test]
fn losses_are_all_that_is_gathered_where_replicas_compute_them() {
    let gathered = |gather: &str| {
        let recorded = train(&json!({ "devices": DEVICES, "gather": gather }));
        let labels = recorded.requested_bytes(1, "scatter · forward");
        (recorded.requested_bytes(0, "gather · forward"), labels)
    };
    let inputs = 4 * INPUTS * PARTS[1];
    let (outputs, read) = gathered("outputs");
    assert_eq!((outputs, read), (vec![4 * CLASSES * SAMPLES; STEPS], vec![inputs; STEPS]));
    // Each replica reads its labels too.
    let (losses, read) = gathered("losses");
    assert_eq!((losses, read), (vec![4 * DEVICES; STEPS], [inputs, 8 * PARTS[1]].repeat(STEPS)));
}
