//! Tests the memory of mistakes inside models and around losses against arithmetic.

use crate::recorded::{Recorded, record};
use serde_json::{Value, json};

const SAMPLES: u64 = 4;
const TOKENS: u64 = SAMPLES * 64;
const LAYERS: u64 = 2;
const HEADS: u64 = 2;
const HIDDEN: u64 = 128;
const CLASSES: u64 = 1000;
/// Bytes of the features of all tokens that each layer returns.
const FEATURES: u64 = 4 * TOKENS * HIDDEN;

fn changed(mut config: Value, changes: &Value) -> Recorded {
    for (key, value) in changes.as_object().expect("keys") {
        config[key] = value.clone();
    }
    record(&config)
}

fn transformer(changes: &Value) -> Recorded {
    let model = json!({ "preset": "gpt2", "layers": LAYERS, "heads": HEADS, "hidden": HIDDEN, "vocabulary": CLASSES });
    let config = json!({ "model": model, "batch": SAMPLES, "sequence": 64, "steps": 4, "card": "t4-16gb" });
    changed(config, changes)
}

fn mlp(changes: &Value) -> Recorded {
    let model = json!({ "family": "mlp", "input": 300, "hidden": [700, 500], "classes": CLASSES });
    changed(json!({ "model": model, "batch": SAMPLES, "steps": 4, "card": "h100-80gb" }), changes)
}

/// Returns the live bytes at the end of the second step, and the growth in each later step.
#[track_caller]
fn ends(recorded: &Recorded) -> (u64, u64) {
    let ends = recorded.live_bytes_at_step_ends();
    let [_, second, third, fourth] = ends[..] else { panic!("four steps: {ends:?}") };
    assert_eq!(third - second, fourth - third, "{ends:?}");
    (second, third - second)
}

#[test]
fn a_sum_of_losses_or_nodes_hold_graphs_that_are_retained() {
    // The activations' outputs, the log-probabilities, the loss's weight, and the batch.
    let graph = 4 * SAMPLES * (700 + 500 + CLASSES) + 4 + 4 * SAMPLES * 300 + 8 * SAMPLES;
    let (plain, _) = ends(&mlp(&json!({})));
    assert_eq!(ends(&mlp(&json!({ "mistakes": ["sum_losses"] }))), (plain + 4, 0), "the sum is a scalar");
    assert_eq!(ends(&mlp(&json!({ "mistakes": ["keep_grad_fns"] }))), (plain, 0));
    for mistake in ["sum_losses", "keep_grad_fns"] {
        let (_, growth) = ends(&mlp(&json!({ "mistakes": [mistake, "retain_graph"] })));
        assert_eq!(growth, graph, "{mistake}");
    }
}

#[test]
fn hooks_keep_what_layers_return() {
    let hooks = |recorded: Recorded| ends(&recorded).1;
    let changes = json!({ "mistakes": ["hook_activations"] });
    assert_eq!(hooks(mlp(&changes)), 4 * SAMPLES * (700 + 500));
    assert_eq!(hooks(transformer(&changes)), LAYERS * FEATURES);
    // Backward recomputes a layer only as far as it needs, so that the hook does not run again.
    let changes = json!({ "mistakes": ["hook_activations"], "checkpointing": true, "accumulation": 2 });
    assert_eq!(hooks(transformer(&changes)), 2 * LAYERS * FEATURES);
}

#[test]
fn an_attribute_has_what_it_leads_to() {
    let kept = |checkpointing: bool| {
        let plain = ends(&transformer(&json!({ "checkpointing": checkpointing })));
        let changes = json!({ "checkpointing": checkpointing, "mistakes": ["cache_activations"] });
        let (bytes, growth) = ends(&transformer(&changes));
        assert_eq!((plain.1, growth), (0, 0));
        bytes - plain.0
    };
    assert_eq!(kept(false), LAYERS * FEATURES, "what attention returned");
    // The layer's input, the norm's output, queries, keys and values, the output of the attention kernel and that of
    // the projection; then the norm's mean and deviation, the log-sum-exp, and the mask of dropout.
    let layer = 7 * FEATURES + 2 * 4 * TOKENS + 4 * HEADS * TOKENS + TOKENS * HIDDEN;
    assert_eq!(kept(true), LAYERS * layer);
}

#[test]
fn a_chained_state_leads_to_the_layers_of_all_batches() {
    let model = json!({
        "family": "rnn", "vocabulary": CLASSES, "hidden": HIDDEN, "layers": LAYERS, "dropout": 0.0, "tied_head": true,
    });
    let config = json!({
        "model": model, "batch": SAMPLES, "sequence": 64, "steps": 4, "card": "t4-16gb", "precision": "autocast-fp16",
    });
    assert_eq!(ends(&changed(config.clone(), &json!({}))).1, 0);
    let recorded = changed(config, &json!({ "mistakes": ["chain_hidden_state", "retain_graph"] }));
    let requested = recorded.requested_bytes(0, "rnn · forward");
    let weights = LAYERS * 4 * (2 * HIDDEN * HIDDEN + 2 * HIDDEN);
    let states = 2 * LAYERS * SAMPLES * HIDDEN;
    let features = 2 * TOKENS * HIDDEN;
    // In 16 bits: the weights as cuDNN reads them, both states, input and output. In 64 bits: the tokens.
    // The rest is one allocation, in which cuDNN keeps gates and states; its workspace is larger, and freed at once.
    let reserve = ends(&recorded).1 - 2 * (weights + states + features) - 8 * TOKENS;
    assert!(requested.contains(&reserve), "{reserve} of {requested:?}");
}

#[test]
fn a_loss_outside_of_autocast_has_16_bits() {
    let loss = |mistakes: &[&str]| {
        let changes = json!({ "precision": "autocast-bf16", "mistakes": mistakes, "steps": 1 });
        mlp(&changes).requested_bytes(0, "cross_entropy · loss")
    };
    let logits = SAMPLES * CLASSES;
    assert_eq!(loss(&[]), [2 * logits, 4 * logits, 4, 4], "log of the probabilities, its cast, loss, and its weight");
    assert_eq!(loss(&["loss_outside_autocast"]), [2 * logits, 2, 2]);
}

#[test]
fn a_loss_on_another_device_is_computed_there() {
    let recorded = mlp(&json!({ "mistakes": ["target_on_other_device"], "steps": 1, "card": "2x h100-80gb" }));
    let logits = 4 * SAMPLES * CLASSES;
    assert_eq!(recorded.requested_bytes(1, "logits · loss"), [logits]);
    assert_eq!(recorded.requested_bytes(1, "labels · loss"), [8 * SAMPLES]);
    assert_eq!(recorded.requested_bytes(1, "cross_entropy · loss"), [logits, 4, 4]);
    assert!(recorded.requested_bytes(0, "cross_entropy · loss").is_empty());
    assert_eq!(recorded.requested_bytes(0, "logits · backward"), [logits], "the gradient comes back");
}
