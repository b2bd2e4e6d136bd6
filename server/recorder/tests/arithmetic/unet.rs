//! Tests the memory of the U-Net of latent diffusion against arithmetic.

use serde_json::{Value, json};
use shared::job::RawJob;

use crate::recorded::{Recorded, record};

const SAMPLES: u64 = 2;
const FINE: u64 = 32;
const COARSE: u64 = 64;
/// Number of latent pixels of an image of 64 × 64 pixels.
const LATENTS: u64 = 8 * 8;
const LATENT_CHANNELS: u64 = 4;
const TIME: u64 = 4 * FINE;
const TEXT: u64 = 48;
const TEXT_TOKENS: u64 = 7;
const GROUPS: u64 = 32;

fn config(job: &Value) -> Value {
    let mut config = json!({
        "model": {
            "family": "unet",
            "channels": [FINE, COARSE],
            "layers": 1,
            "image_size": 64,
            "heads": 4,
            "cross_attention_dim": TEXT,
            "text_tokens": TEXT_TOKENS,
        },
        "batch": SAMPLES,
        "steps": 2,
        "set_to_none": false,
        "card": "h100-80gb",
    });
    for (key, value) in job.as_object().expect("keys") {
        config[key] = value.clone();
    }
    config
}

fn convolution(inputs: u64, outputs: u64, kernel: u64) -> [u64; 2] {
    [inputs * outputs * kernel * kernel, outputs]
}

fn residual(inputs: u64, outputs: u64) -> Vec<u64> {
    let first = [[inputs; 2], convolution(inputs, outputs, 3), convolution(TIME, outputs, 1)];
    let second = [[outputs; 2], convolution(outputs, outputs, 3)];
    let shortcut = if inputs == outputs { Vec::new() } else { convolution(inputs, outputs, 1).to_vec() };
    [first.concat(), second.concat(), shortcut].concat()
}

fn transformer(channels: u64) -> Vec<u64> {
    let square = channels * channels;
    let attention = |source| vec![square, source * channels, source * channels, square, channels];
    let feed_forward = [8 * square, 8 * channels, 4 * square, channels];
    let ends = convolution(channels, channels, 1).repeat(2);
    [vec![channels; 8], ends, attention(channels), attention(TEXT), feed_forward.to_vec()].concat()
}

/// Returns the number of elements of each parameter.
fn parameters() -> Vec<u64> {
    let time = [convolution(FINE, TIME, 1), convolution(TIME, TIME, 1)].concat();
    let ends = [convolution(LATENT_CHANNELS, FINE, 3), [FINE; 2], convolution(FINE, LATENT_CHANNELS, 3)].concat();
    let down = [residual(FINE, FINE), transformer(FINE), convolution(FINE, FINE, 3).to_vec(), residual(FINE, COARSE)];
    let middle = [residual(COARSE, COARSE), transformer(COARSE), residual(COARSE, COARSE)];
    // Each block reads one output of the way down; the last block reads that of the first convolution.
    let up = [
        residual(COARSE + COARSE, COARSE),
        residual(COARSE + FINE, COARSE),
        convolution(COARSE, COARSE, 3).to_vec(),
        residual(COARSE + FINE, FINE),
        residual(FINE + FINE, FINE),
        transformer(FINE).repeat(2),
    ];
    [time, ends, down.concat(), middle.concat(), up.concat()].concat()
}

#[test]
fn parameters_are_those_that_a_job_counts() {
    let job = RawJob::from_json(&config(&json!({})).to_string()).expect("a config").resolve().expect("a job");
    assert_eq!(parameters().iter().sum::<u64>(), job.parameters());
}

#[test]
fn every_parameter_has_a_gradient_and_running_averages() {
    let mut expected = parameters();
    expected.sort_unstable();
    let alive = record(&config(&json!({}))).alive();
    for place in ["· backward", ".exp_avg · optimizer", ".exp_avg_sq · optimizer"] {
        // cuBLAS keeps a workspace for the thread of backward.
        let kept = alive.iter().filter(|tensor| tensor.place.ends_with(place) && tensor.requested_bytes != 32 << 20);
        let mut elements: Vec<_> = kept.map(|tensor| tensor.requested_bytes / 4).collect();
        elements.sort_unstable();
        assert_eq!(elements, expected, "{place}");
    }
}

/// Returns the bytes that a module saves for backward.
fn kept(recorded: &Recorded, module: &str) -> u64 {
    recorded.bytes_before_backward(|place| place.starts_with(module) && place.ends_with(" · forward"))
}

#[test]
fn a_residual_block_keeps_for_backward() {
    let pixels = SAMPLES * LATENTS / 4;
    // The outputs of both norms and activations, the sum with the time step, and the output of the block.
    let features = pixels * (2 * FINE + 4 * COARSE);
    let statistics = 2 * 2 * SAMPLES * GROUPS;
    let bytes = 4 * (features + statistics + SAMPLES * TIME);
    assert_eq!(kept(&record(&config(&json!({}))), "down_blocks.1.resnets.0"), bytes);
}

#[test]
fn a_transformer_keeps_for_backward() {
    let recorded = record(&config(&json!({})));
    let block = "down_blocks.0.attentions.0.transformer_blocks.0";
    let tokens = SAMPLES * LATENTS;
    // The gate and the features that it multiplies, the gate's activation, and the product.
    assert_eq!(kept(&recorded, &format!("{block}.ff.net.0")), 4 * tokens * (8 + 4 + 4) * FINE);
    assert_eq!(kept(&recorded, &format!("{block}.attn1.to_k")), 4 * tokens * FINE);
    assert_eq!(kept(&recorded, &format!("{block}.attn2.to_k")), 4 * SAMPLES * TEXT_TOKENS * FINE);
}

#[test]
fn all_blocks_but_the_middles_first_are_checkpointed() {
    let recorded = record(&config(&json!({ "checkpointing": true })));
    for module in ["down_blocks.0.resnets.0.conv1", "mid_block.resnets.1.conv1", "up_blocks.1.resnets.1.conv1"] {
        assert!(recorded.peak_bytes(&format!("{module} · recompute")) > 0, "{module}");
    }
    let block = "up_blocks.1.attentions.0.transformer_blocks.0.ff.net.0.proj";
    assert_eq!(recorded.peak_bytes(&format!("{block} · recompute")), 4 * SAMPLES * LATENTS * 8 * FINE);
    assert_eq!(recorded.peak_bytes("mid_block.resnets.0.conv1 · recompute"), 0);
}

#[test]
fn under_autocast_the_data_has_16_bits() {
    let recorded = record(&config(&json!({ "precision": "autocast-bf16" })));
    let latents = 2 * SAMPLES * LATENT_CHANNELS * LATENTS;
    assert_eq!(recorded.requested_bytes(0, "latents · data"), [latents; 2]);
    assert_eq!(recorded.requested_bytes(0, "text · data"), [2 * SAMPLES * TEXT_TOKENS * TEXT; 2]);
    assert_eq!(recorded.requested_bytes(0, "timesteps · data"), [8 * SAMPLES; 2]);
    assert_eq!(recorded.requested_bytes(0, "noise · data"), [latents; 2]);
}
