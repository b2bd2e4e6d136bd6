//! Tests of jobs from configs, and of the problems of configs that can't be resolved.

use std::collections::BTreeSet;

use super::*;
use crate::job::raw::RawSelected;
use crate::job::{
    Format, OptimizerImplementation, OptimizerKind, RawData, RawEvaluation, RawLora, RawLoss, RawOptimizer, RawParallel,
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

#[track_caller]
fn check_problems(text: &str, problems: &[&str]) {
    let found = resolve(text).unwrap_err();
    assert_eq!(found.iter().map(Problem::without_place).collect::<Vec<_>>(), problems);
}

/// Checks that a config has exactly this problem.
#[track_caller]
pub(super) fn check_problem(text: &str, problem: &str) {
    check_problems(text, &[problem]);
}

#[test]
fn a_name_is_a_whole_config() {
    let job = job("model = 'gpt2'");
    assert_eq!((job.name.as_str(), job.batch, job.sequence, job.steps), ("gpt2", 1, 1024, 3));
    assert_eq!(job.precision, Precision::Fp32);
    assert_eq!(job.optimizer.kind, OptimizerKind::AdamW { betas: (0.9, 0.999), epsilon: 1e-8 });
    assert_eq!(job.parameters(), 124_439_808);
    assert_eq!(job.device, Device::Virtual(Cards::parse("a100-80gb").unwrap()));
}

#[test]
fn every_preset_resolves_and_is_written_back() {
    for preset in Model::presets() {
        assert_eq!(job(&format!("model = '{preset}'")).model, Model::preset(preset).unwrap());
    }
}

#[test]
fn keys_override_a_preset() {
    let Model::Transformer(model) = job("model = { preset = 'gpt2', hidden = 1024, heads = 16 }").model.clone() else {
        panic!("gpt2 is a transformer");
    };
    assert_eq!((model.intermediate, model.head_dim, model.kv_heads, model.layers), (4096, 64, 16, 12));
    let Model::Transformer(model) =
        job("model = { family = 'transformer', architecture = 'llama', hidden = 2048, kv_heads = 4 }").model.clone()
    else {
        panic!("llama is a transformer");
    };
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
    assert_eq!(job.optimizer.kind, OptimizerKind::Sgd { momentum: 0.9, nesterov: true });
    assert_eq!(job.optimizer.implementation, OptimizerImplementation::Fused);
    assert_eq!(job.evaluation, Some(Evaluation { every: 2, batches: 3, batch: 2, no_grad: false }));
    assert_eq!((job.zero_grad, job.clip_grad_norm, job.memory_fraction), (ZeroGrad::Zero, Some(1.0), Some(0.9)));
    assert_eq!(job.device, Device::Cuda(1));
    let Model::Transformer(model) = job.model.clone() else { panic!("llama is a transformer") };
    assert!(!model.use_cache, "checkpointing turns the cache off");
}

#[test]
fn all_problems_come_at_once() {
    check_problems(
        "modle = 'gpt2'\nmodel = { hiden = 4, layers = 'many' }\noptimizer = { lr = 1.0 }\nbatch = -1",
        &[
            "modle: unknown key; did you mean `model`?",
            "model.hiden: unknown key; did you mean `hidden`?",
            "model.layers: expected a whole number or a list of layers, not `many`",
            "optimizer.lr: unknown key; did you mean `learning_rate`?",
            "batch: expected a whole number, not -1",
        ],
    );
    check_problems(
        "model = 'gpt3'\nbatch = 0\nsteps = 100000\nprecision = 'bfloat16'\ncard = 'h100'",
        &[
            "model.preset: unknown model `gpt3`; did you mean `gpt2`?",
            "batch: 0 is not between 1 and 65,536",
            "steps: 100,000 is not between 1 and 10,000; memory use repeats from step to step, and more would take \
             hours",
            "precision: unknown value `bfloat16`; the possible values are fp32, tf32, bf16, autocast-bf16, \
             autocast-fp16",
            "card: unknown card `h100`; did you mean `h100-80gb`?",
        ],
    );
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
fn what_only_follows_from_another_mistake_is_left_out() {
    check_problems("modle = 'gpt2'\nbatch = 4", &["modle: unknown key; did you mean `model`?"]);
    check_problems("model = { prest = 'gpt2' }", &["model.prest: unknown key; did you mean `preset`?"]);
    check_problems("model = 'gpt2'\nprecision = 16\ngrad_scaler = true", &["precision: expected a string, not 16"]);
    check_problems("model = 'gpt2'\nhidden = 64", &["hidden: unknown key; write it as `model.hidden`"]);
    check_problems("model = 'gpt2'\nwandb = true", &["wandb: unknown key; remove it: no key here is similar"]);
    check_problems(
        "model = 'gpt2'\nbach = 1\nsweep = { batch = [1, 2] }",
        &["bach: unknown key; did you mean `batch`?"],
    );
}

#[test]
fn keys_must_fit_their_neighbours() {
    check_problems(
        "model = { preset = 'resnet50', heads = 8 }\nsequence = 4",
        &[
            "model.heads: only transformer or bert models have this key, and this is a resnet model; remove it",
            "sequence: this model reads no sequences; remove it",
        ],
    );
    check_problems(
        "model = { preset = 'gpt2', heads = 11 }",
        &["model.heads: 768 features are not divisible by 11 heads; change `heads` or `hidden`, or set `head_dim`"],
    );
    check_problems(
        "model = { preset = 'gpt2', kv_heads = 4, rope_theta = 10000.0 }\nsequence = 2048",
        &[
            "model.rope_theta: learned positions have no rope base; remove it",
            "model.kv_heads: gpt2 has the same number of key and query heads; remove it, or write \
             architecture = \"llama\"",
            "sequence: 2048 tokens, but the model has only 1024 positions; write at most 1024, or a larger \
         `model.max_positions`",
        ],
    );
    check_problems(
        "model = { preset = 'gpt2', family = 'mlp' }",
        &["model.family: `gpt2` belongs to the family transformer; remove it"],
    );
    check_problems(
        "model = 'mlp'\ngrad_scaler = true\noptimizer = { kind = 'adam', momentum = 0.9 }",
        &[
            "grad_scaler: a gradient scaler needs autocast; write precision = \"autocast-fp16\", or remove it",
            "optimizer.momentum: adam does not have this option; remove it, or choose another kind",
        ],
    );
    check_problems(
        "model = 'mlp'\ncard = 't4-16gb'\ndevice = 'cuda:0'",
        &["device: `card` selects a virtual GPU and `device` a real one; keep one of them"],
    );
    check_problems(
        "model = 'mlp'\nallocator = 'expandable_segment:True,backend:cudaMallocAsync,expandable_segments:1'",
        &[
            "allocator: the allocator has no option `expandable_segment`; did you mean `expandable_segments`?",
            "allocator: only PyTorch's native backend records its memory; remove `backend`",
            "allocator: `expandable_segments` must be `True` or `False`, not `1`; start it with a capital letter",
        ],
    );
    check_problems(
        "batch = 4",
        &[&format!(
            "model: missing; for example, write `model = \"gpt2\"`; the presets are {}",
            Model::presets().collect::<Vec<_>>().join(", ")
        )],
    );
}

#[test]
fn attention_must_run_on_the_card() {
    let check = |card: &str, precision: &str, attention: &str, head_dim: u64, start: &str| {
        let model = format!("preset = 'llama-3.2-1b', attention = '{attention}', head_dim = {head_dim}");
        let text = format!("model = {{ {model} }}\nprecision = '{precision}'\ncard = '{card}'");
        let reason = resolve(&text).err().map(|problems| problems[0].message.clone());
        assert_eq!(reason.unwrap_or_default().split_at_checked(start.len()).unwrap_or_default().0, start, "{text}");
        assert_eq!(start.is_empty(), resolve(&text).is_ok(), "{text}");
    };
    check("t4-16gb", "autocast-fp16", "sdpa", 64, "");
    check("t4-16gb", "autocast-fp16", "efficient", 64, "");
    check("t4-16gb", "autocast-bf16", "efficient", 64, "efficient attention does not support bfloat16 on t4-16gb");
    check(
        "t4-16gb",
        "autocast-fp16",
        "flash",
        64,
        "flash attention needs compute capability 8.0 and cannot run on t4-16gb",
    );
    check("t4-16gb", "autocast-bf16", "math", 64, "");
    check("a100-80gb", "fp32", "flash", 64, "flash attention needs a 16-bit precision");
    check("a100-80gb", "bf16", "flash", 256, "");
    check("l4-24gb", "bf16", "flash", 224, "flash attention cannot train a head dimension of 224 on l4-24gb");
    check("h100-80gb", "bf16", "cudnn", 256, "");
    check("b200-180gb", "bf16", "cudnn", 256, "cuDNN attention supports head dimensions up to 128, not 256");
    check(
        "2x h100-80gb,t4-16gb",
        "bf16",
        "cudnn",
        64,
        "cuDNN attention needs compute capability 8.0 and cannot run on t4-16gb",
    );
}

#[test]
fn jobs_beyond_reason_are_refused() {
    check_problems(
        "model = { family = 'transformer', layers = 1024, hidden = 262144, heads = 64 }",
        &["model: the model has 844,441,863,323,648 parameters, more than 1,000,000,000,000; write fewer layers or a \
             smaller `hidden`"],
    );
    check_problems(
        "model = 'resnet50'\nbatch = 65536",
        &["batch: a batch would take 36.8 GiB of host memory; write a smaller batch"],
    );
    check_problems(
        "model = 'gpt2'\nsteps = 2000",
        &["steps: about 7 million events would be recorded; write fewer steps: memory use repeats from step to step"],
    );
    check_problems(
        "model = { preset = 'llama-3.1-8b', attention = 'eager' }\nsequence = 131072\nbatch = 256",
        &["batch: a single tensor would take 512 TiB; write a smaller batch or sequence"],
    );
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

/// Checks that a config gets one sentence about what only scripts have.
#[track_caller]
fn check_of_scripts(text: &str, path: &str, what: &str) {
    let hint = "`snapscope run -- python train.py` records any script exactly";
    check_problems(text, &[&format!("{path}: {what} not recorded from configs; {hint}")]);
}

#[test]
fn what_only_scripts_have_is_said_once() {
    check_of_scripts("model = 'sd-1.5'", "model.preset", "U-Nets are");
    check_of_scripts(
        "model = { family = 'unet', channels = [32, 64], text_tokens = 7 }",
        "model.channels",
        "U-Nets are",
    );
    check_of_scripts("model = 'ViT-B-16'", "model.preset", "vision transformers are");
    check_of_scripts("model = { family = 'vit' }", "model.family", "vision transformers are");
    check_of_scripts("model = { preset = 'mixtral-8x7b', experts = 4 }", "model.experts", "mixtures of experts are");
    check_of_scripts("model = { preset = 'llama-2-7b', routing = 'even' }", "model.routing", "mixtures of experts are");
    let parallel = |table: &str| format!("model = 'gpt2'\nparallel = {{ {table} }}");
    check_of_scripts(&parallel("kind = 'zero1', ranks = 4"), "parallel.kind", "ZeRO is");
    check_of_scripts(&parallel("kind = 'tensor'"), "parallel.kind", "tensor parallelism is");
    check_of_scripts(&parallel("kind = 'pipeline', schedule = '1f1b'"), "parallel.schedule", "pipelines are");
    check_of_scripts("model = 'mlp'\nmistakes = ['keep_losses']", "mistakes", "mistakes are");
}

#[test]
fn recurrent_networks_need_a_card_that_cudnn_has_them_for() {
    job("model = 'lstm-medium'\ncard = 't4-16gb'");
    check_problems(
        "model = 'lstm-medium'\ncard = 'v100-32gb'",
        &["card: cuDNN does not support recurrent networks on v100-32gb; choose a card with compute capability 7.5 \
             or later, such as t4-16gb"],
    );
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
