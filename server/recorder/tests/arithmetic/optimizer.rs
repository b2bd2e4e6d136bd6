//! Tests the memory of optimizers and of their steps against arithmetic.

use crate::recorded::{
    MLP_PARAMETERS as PARAMETERS, Recorded, WORKSPACE_BYTES, changed, mlp, record, rounded_bytes, sorted,
};
use serde_json::{Value, json};

const IMPLEMENTATIONS: [&str; 3] = ["foreach", "fused", "for-loop"];

/// Runs two steps of the model; `changes` are further keys of the config.
#[track_caller]
fn train(mut optimizer: Value, implementation: &str, changes: &Value) -> Recorded {
    optimizer["implementation"] = implementation.into();
    let config = json!({ "model": mlp(), "batch": 64, "steps": 2, "card": "h100-80gb", "optimizer": optimizer });
    record(&changed(config, changes))
}

/// Returns the requested bytes of all parameters.
fn requested_bytes() -> u64 {
    4 * PARAMETERS.iter().sum::<u64>()
}

fn sgd(momentum: f64, weight_decay: f64) -> Value {
    json!({ "kind": "sgd", "momentum": momentum, "weight_decay": weight_decay })
}

fn adam(kind: &str, weight_decay: f64) -> Value {
    json!({ "kind": kind, "weight_decay": weight_decay })
}

/// Checks the rounded bytes of the optimizer's state at the end.
#[track_caller]
fn check_state(optimizer: &Value, expected: impl Fn(&str) -> u64) {
    for implementation in IMPLEMENTATIONS {
        let recorded = train(optimizer.clone(), implementation, &json!({}));
        assert_eq!(recorded.alive_bytes(" · optimizer"), expected(implementation), "{optimizer} {implementation}");
        assert_eq!(recorded.weight_bytes(), rounded_bytes(&PARAMETERS));
    }
}

#[test]
fn sgd_without_momentum_keeps_nothing() {
    check_state(&sgd(0.0, 0.01), |_| 0);
}

#[test]
fn momentum_takes_what_the_parameters_take() {
    check_state(&sgd(0.9, 0.0), |_| rounded_bytes(&PARAMETERS));
}

#[test]
fn adam_takes_twice_what_the_parameters_take() {
    // The fused kernel counts steps on the device, in a tensor of one number for each parameter.
    let steps = |implementation: &str| if implementation == "fused" { rounded_bytes(&[1; 6]) } else { 0 };
    check_state(&adam("adam", 0.0), |implementation| 2 * rounded_bytes(&PARAMETERS) + steps(implementation));
    check_state(&adam("adamw", 0.01), |implementation| 2 * rounded_bytes(&PARAMETERS) + steps(implementation));
}

#[test]
fn state_is_named_after_its_parameter() {
    let recorded = train(adam("adamw", 0.01), "foreach", &json!({}));
    for name in ["exp_avg", "exp_avg_sq"] {
        let place = format!("layers.1.linear.weight.{name} · optimizer");
        assert_eq!(recorded.alive_bytes(&place), rounded_bytes(&[PARAMETERS[2]]), "{place}");
    }
}

/// Checks the peak of temporary tensors in a step.
#[track_caller]
fn check_temporaries(optimizer: &Value, implementation: &str, place: &str, expected: u64) {
    let recorded = train(optimizer.clone(), implementation, &json!({}));
    assert_eq!(recorded.peak_bytes(place), expected, "{optimizer} {implementation}");
}

#[test]
fn foreach_copies_all_parameters() {
    check_temporaries(&adam("adamw", 0.01), "foreach", "adamw · optimizer", requested_bytes());
    // Decayed gradients are freed before the denominators are allocated.
    check_temporaries(&adam("adam", 0.01), "foreach", "adam · optimizer", requested_bytes());
    check_temporaries(&sgd(0.9, 0.01), "foreach", "sgd · optimizer", requested_bytes());
    check_temporaries(&sgd(0.9, 0.0), "foreach", "sgd · optimizer", 0);
}

#[test]
fn fused_copies_nothing() {
    check_temporaries(&adam("adamw", 0.01), "fused", "adamw · optimizer", 0);
    check_temporaries(&adam("adam", 0.01), "fused", "adam · optimizer", 0);
    check_temporaries(&sgd(0.9, 0.01), "fused", "sgd · optimizer", 0);
}

#[test]
fn a_loop_holds_the_last_denominator_until_the_next_is_there() {
    let root_and_quotient = PARAMETERS.iter().map(|count| 2 * count);
    let last_denominators = std::iter::once(&0).chain(&PARAMETERS);
    let most = root_and_quotient.zip(last_denominators).map(|(two, last)| two + last).max();
    check_temporaries(&adam("adamw", 0.01), "for-loop", "adamw · optimizer", 4 * most.expect("parameters"));
}

#[test]
fn zeroed_gradients_stay() {
    for implementation in IMPLEMENTATIONS {
        let zeroed = train(sgd(0.0, 0.0), implementation, &json!({ "set_to_none": false }));
        // Besides gradients, backward leaves a workspace of cuBLAS for its thread.
        let kept = zeroed.alive().into_iter().filter(|tensor| tensor.place.ends_with("· backward"));
        let expected = sorted(PARAMETERS.iter().map(|count| 4 * count).chain([WORKSPACE_BYTES]));
        assert_eq!(sorted(kept.map(|tensor| tensor.requested_bytes)), expected, "{implementation}");
    }
}

#[test]
fn clipping_takes_numbers_only() {
    let recorded = train(sgd(0.0, 0.0), "foreach", &json!({ "clip_grad_norm": 1.0 }));
    assert!(recorded.peak_bytes("clip_grad_norm · optimizer") > 0);
    assert!(recorded.peak_bytes("clip_grad_norm · optimizer") < 4096);
    assert_eq!(recorded.alive_bytes("clip_grad_norm · optimizer"), 0);
}

#[test]
fn the_scaler_keeps_its_scale_and_its_count() {
    for implementation in IMPLEMENTATIONS {
        for clipping in [Value::Null, json!(1.0)] {
            let mut changes = json!({ "precision": "autocast-fp16" });
            if !clipping.is_null() {
                changes["clip_grad_norm"] = clipping;
            }
            let recorded = train(sgd(0.9, 0.0), implementation, &changes);
            let scaler = recorded.alive().into_iter().filter(|tensor| tensor.place.starts_with("grad_scaler"));
            // The scaled loss of the last step was freed with its graph.
            assert_eq!(scaler.map(|tensor| tensor.requested_bytes).collect::<Vec<_>>(), [4, 4], "{implementation}");
            assert_eq!(recorded.alive_bytes(".momentum_buffer · optimizer"), rounded_bytes(&PARAMETERS));
        }
    }
}
