//! Tests of jobs from configs, and of the problems of configs that can't be resolved.

use std::collections::BTreeSet;

use super::*;
use crate::raw::RawSelected;
use crate::{
    Format, Optimizer, OptimizerImplementation, OptimizerKind, RawData, RawEvaluation, RawLora, RawLoss, RawOptimizer,
    RawParallel, Transformer,
};

/// Resolves a config in TOML.
fn resolve(text: &str) -> Result<Job, Vec<Problem>> {
    RawJob::parse(text, Format::Toml)?.resolve()
}

/// Resolves a config, and checks that the job is the same after it is written and read again.
#[track_caller]
pub(super) fn job(text: &str) -> Job {
    let job = resolve(text).unwrap();
    assert_eq!(RawJob::from_json(&job.to_json()).unwrap().resolve().as_ref(), Ok(&job), "{}", job.to_json());
    job
}

#[test]
fn what_is_wrong_is_told() {
    let blocks = include_str!("problems.txt").trim_end().split("\n\n");
    let configs: Vec<&str> = blocks.filter(|block| !block.starts_with('#')).collect();
    assert_eq!(configs.len(), 82);
    for block in configs {
        let mut parts = block.split("\n> ");
        let config = parts.next().unwrap_or_default();
        let found = resolve(config).err().unwrap_or_default();
        if found.is_empty() {
            job(config);
        }
        assert_eq!(found.iter().map(Problem::without_place).collect::<Vec<_>>(), parts.collect::<Vec<_>>(), "{config}");
    }
}

#[test]
fn a_name_is_a_whole_config() {
    let job = job("model = 'gpt2'");
    assert_eq!((job.name.as_str(), job.batch, job.sequence, job.steps), ("gpt2", 1, 1024, 3));
    assert_eq!(job.precision, Precision::Fp32);
    let Optimizer { kind, betas, epsilon, .. } = job.optimizer;
    assert_eq!((kind, betas, epsilon), (OptimizerKind::AdamW, (0.9, 0.999), 1e-8));
    assert_eq!(job.parameters(), 124_439_808);
    assert_eq!(job.device, Device::Virtual(Cards::parse("a100-80gb").unwrap()));
}

#[test]
fn every_preset_resolves_and_is_written_back() {
    for preset in Model::presets() {
        assert_eq!(job(&format!("model = '{preset}'")).model, Model::preset(preset).unwrap());
    }
}

#[track_caller]
fn transformer(text: &str) -> Transformer {
    let Model::Transformer(model) = job(text).model.clone() else { panic!("{text} is a transformer") };
    model
}

#[test]
fn keys_override_a_preset() {
    let model = transformer("model = { preset = 'gpt2', hidden = 1024, heads = 16 }");
    assert_eq!((model.intermediate, model.head_dim, model.kv_heads, model.layers), (4096, 64, 16, 12));
    let model = transformer("model = { family = 'transformer', architecture = 'llama', hidden = 2048, kv_heads = 4 }");
    assert_eq!((model.intermediate, model.head_dim, model.kv_heads), (5632, 64, 4));
    let Model::Mlp(mlp) = job("model = { family = 'mlp', hidden = 64, layers = 3 }").model.clone() else {
        panic!("an mlp is an mlp");
    };
    assert_eq!(mlp.hidden_features, [64; 3]);
}

#[test]
fn every_setting_is_read() {
    let job = job("
        name = 'all of it'
        batch = 2
        sequence = 128
        steps = 5
        accumulation = 4
        precision = 'autocast-fp16'
        checkpointing = true
        clip_grad_norm = 1
        set_to_none = false
        allocator = 'expandable_segments:True,roundup_power2_divisions:[64:8,>:2]'
        device = 'cuda:1'
        memory_fraction = 0.9
        evaluation = { every = 2, batches = 3, no_grad = false }
        [model]
        preset = 'llama-3.2-1b'
        attention = 'flash'
        [optimizer]
        kind = 'sgd'
        momentum = 0.9
        nesterov = true
        implementation = 'fused'
    ");
    assert_eq!(job.precision, Precision::Autocast(Amp { fp16: true, grad_scaler: true }));
    let Optimizer { kind, momentum, nesterov, implementation, .. } = job.optimizer;
    assert_eq!((kind, momentum, nesterov), (OptimizerKind::Sgd, 0.9, true));
    assert_eq!(implementation, OptimizerImplementation::Fused);
    assert_eq!(job.evaluation, Some(Evaluation { every: 2, batches: 3, batch: 2, no_grad: false }));
    assert_eq!((job.zero_grad, job.clip_grad_norm, job.memory_fraction), (ZeroGrad::Zero, Some(1.0), Some(0.9)));
    assert_eq!(job.device, Device::Cuda(1));
    let Model::Transformer(model) = job.model.clone() else { panic!("llama is a transformer") };
    assert!(!model.use_cache, "checkpointing turns the cache off");
}

/// Checks that three mistakes are reported at once in each format, each with its line and column.
#[test]
fn three_mistakes_are_told_at_once_in_each_language() {
    let check = |text: &str, format: Format, places: [&str; 3]| {
        let problems = RawJob::parse(text, format).unwrap_err();
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let words = [
            "model.preset: unknown model `gtp2`; did you mean `gpt2`?",
            "batch: 0 is not between 1 and 65,536",
            "seqlen: unknown key; did you mean `sequence`?",
        ];
        let expected: Vec<String> =
            places.iter().zip(words).map(|(place, words)| format!("{place}: {words}")).collect();
        assert_eq!(told, expected);
    };
    let toml = "model = \"gtp2\"\nbatch = 0\n\nseqlen = 512\n";
    check(toml, Format::Toml, ["line 1, column 1", "line 2, column 1", "line 4, column 1"]);
    let yaml = "model:\n  preset: gtp2\nbatch: 0\nseqlen: 512\n";
    check(yaml, Format::Yaml, ["line 2, column 3", "line 3, column 1", "line 4, column 1"]);
    let json = "{\"model\": \"gtp2\",\n \"batch\": 0, \"seqlen\": 512}";
    check(json, Format::Json, ["line 1, column 2", "line 2, column 2", "line 2, column 14"]);
}

#[test]
fn a_config_needs_a_model() {
    let presets = Model::presets().collect::<Vec<_>>().join(", ");
    let missing = format!("model: missing; for example, write `model = \"gpt2\"`; the presets are {presets}");
    assert_eq!(resolve("batch = 4").unwrap_err().iter().map(Problem::without_place).collect::<Vec<_>>(), [missing]);
}

#[test]
fn attention_must_run_on_the_card() {
    let check = |card: &str, [precision, attention]: [&str; 2], head_dim: u64, start: &str| {
        let model = format!("preset = 'llama-3.2-1b', attention = '{attention}', head_dim = {head_dim}");
        let text = format!("model = {{ {model} }}\nprecision = '{precision}'\ncard = '{card}'");
        let reason = resolve(&text).err().map(|problems| problems[0].message.clone());
        assert_eq!(reason.unwrap_or_default().split_at_checked(start.len()).unwrap_or_default().0, start, "{text}");
        assert_eq!(start.is_empty(), resolve(&text).is_ok(), "{text}");
    };
    check("t4-16gb", ["autocast-fp16", "sdpa"], 64, "");
    check("t4-16gb", ["autocast-fp16", "efficient"], 64, "");
    check("t4-16gb", ["autocast-bf16", "efficient"], 64, "efficient attention does not support bfloat16 on t4-16gb");
    let too_old = "attention needs compute capability 8.0 and cannot run on t4-16gb";
    check("t4-16gb", ["autocast-fp16", "flash"], 64, &format!("flash {too_old}"));
    check("t4-16gb", ["autocast-bf16", "math"], 64, "");
    check("a100-80gb", ["fp32", "flash"], 64, "flash attention needs a 16-bit precision");
    check("a100-80gb", ["bf16", "flash"], 256, "");
    check("l4-24gb", ["bf16", "flash"], 224, "flash attention cannot train a head dimension of 224 on l4-24gb");
    check("h100-80gb", ["bf16", "cudnn"], 256, "");
    check("b200-180gb", ["bf16", "cudnn"], 256, "cuDNN attention supports head dimensions up to 128, not 256");
    check("2x h100-80gb,t4-16gb", ["bf16", "cudnn"], 64, &format!("cuDNN {too_old}"));
}

#[test]
fn jobs_beyond_reason_are_refused() {
    for number in ["1e30", "nan", "inf", "-inf", "99999999999999999999999", "9223372036854775807", "-1", "1.5"] {
        for key in
            ["batch", "sequence", "steps", "model.layers", "model.hidden", "model.vocabulary", "evaluation.every"]
        {
            assert!(resolve(&format!("model.preset = 'gpt2'\n{key} = {number}")).is_err(), "{key} = {number}");
        }
    }
    for number in ["1e300", "nan", "inf", "-1", "1.5", "1e-400"] {
        for key in ["memory_fraction", "model.dropout"] {
            let is_zero_dropout = number == "1e-400" && key == "model.dropout";
            let resolved = resolve(&format!("model.preset = 'gpt2'\n{key} = {number}"));
            assert_eq!(resolved.is_ok(), is_zero_dropout, "{key} = {number}");
        }
    }
}

/// Configs that have an effect for each key.
const CONFIGS: &[&str] = &[
    "model = 'gpt2'\nprecision = 'autocast-fp16'\nclip_grad_norm = 1.0\nmemory_fraction = 0.5\nloss = {}\nlora = {}\n\
     checkpointing = true\nevaluation = {}\ndata = { lengths = 'uniform', batches = 'uniform', samples = 10 }",
    "model = 'llama-3-8b'\ndevice = 'cuda:0'",
    "model = 'mlp'\noptimizer = 'sgd'\ncard = '2x t4-16gb'\nparallel = {}",
    "model = 'resnet18'\noptimizer = { offload = true }",
    "model = 'bert-base'\nparallel = { kind = 'ddp', bucket_mb = 25 }",
    "model = 'gpt2'\nparallel = { kind = 'fsdp' }",
    "model = 'lstm-medium'",
    "model = 'alexnet'",
];

/// Keys that are read and never written, because others say the same.
const SHORT: &[&str] = &["preset", "sweep"];

/// Checks that the keys of a table are those that any of the written configs has.
#[track_caller]
fn check_keys(keys: &[&str], written: impl Fn(&RawJob) -> Vec<&'static str>) {
    let found: BTreeSet<_> = CONFIGS.iter().flat_map(|config| written(&job(config).to_raw())).collect();
    assert_eq!(found, keys.iter().copied().filter(|key| !SHORT.contains(key)).collect());
}

macro_rules! check_table {
    ($table:ident, $key:ident) => {
        check_keys($table::KEYS, |raw| raw.$key.iter().flat_map($table::keys_set).collect());
    };
}

#[test]
fn every_key_is_written() {
    check_keys(RawJob::KEYS, |raw| raw.keys_set().collect());
    check_table!(RawModel, model);
    check_table!(RawOptimizer, optimizer);
    check_table!(RawLoss, loss);
    check_table!(RawLora, lora);
    check_table!(RawData, data);
    check_table!(RawEvaluation, evaluation);
    check_table!(RawParallel, parallel);
    check_keys(RawSelected::KEYS, |raw| match &raw.checkpointing {
        Some(RawCheckpointing::Selected(selected)) => selected.keys_set().collect(),
        _ => Vec::new(),
    });
}
