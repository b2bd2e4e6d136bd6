//! Tests that every key that is read is written.

use std::collections::BTreeSet;

use super::check::job;
use crate::job::raw::RawSelected;
use crate::job::{
    RawCheckpointing, RawData, RawEvaluation, RawJob, RawLora, RawLoss, RawModel, RawOptimizer, RawParallel,
};

/// Configs that have an effect for each key.
const CONFIGS: &[&str] = &[
    "model = 'gpt2'\nprecision = 'autocast-fp16'\nclip_grad_norm = 1.0\nmemory_fraction = 0.5\nloss = {}\nlora = {}\n\
     checkpointing = true\nevaluation = {}\ndata = { lengths = 'uniform', batches = 'uniform', samples = 10 }",
    "model = { preset = 'mixtral-8x7b', layers = 1, experts_implementation = 'eager' }\ndevice = 'cuda:0'",
    "model = 'mlp'\noptimizer = 'sgd'\ncard = '2x t4-16gb'\nparallel = {}",
    "model = 'resnet18'\noptimizer = { offload = true }",
    "model = 'bert-base'\nparallel = { kind = 'zero1', bucket_mb = 25 }",
    "model = 'vit-b-16'\nparallel = { kind = 'fsdp' }",
    "model = 'llama-3-8b'\nparallel = { kind = 'tensor' }",
    "model = 'gpt2'\nbatch = 8\nparallel = { kind = 'pipeline' }",
    "model = 'sd-1.5'",
    "model = 'lstm-medium'",
    "model = 'alexnet'",
];

/// Keys that are read and never written, because others say the same.
const SHORT: &[&str] = &["preset", "sweep"];

/// Checks that the keys of a table are those that any of the written configs has.
#[track_caller]
fn check(keys: &[&str], written: impl Fn(&RawJob) -> Vec<&'static str>) {
    let found: BTreeSet<_> = CONFIGS.iter().flat_map(|config| written(&job(config).to_raw())).collect();
    assert_eq!(found, keys.iter().copied().filter(|key| !SHORT.contains(key)).collect());
}

macro_rules! check_table {
    ($table:ident, $key:ident) => {
        check($table::KEYS, |raw| raw.$key.iter().flat_map($table::keys_set).collect());
    };
}

#[test]
fn every_key_is_written() {
    check(RawJob::KEYS, |raw| raw.keys_set().collect());
    check_table!(RawModel, model);
    check_table!(RawOptimizer, optimizer);
    check_table!(RawLoss, loss);
    check_table!(RawLora, lora);
    check_table!(RawData, data);
    check_table!(RawEvaluation, evaluation);
    check_table!(RawParallel, parallel);
    check(RawSelected::KEYS, |raw| match &raw.checkpointing {
        Some(RawCheckpointing::Selected(selected)) => selected.keys_set().collect(),
        _ => Vec::new(),
    });
}
