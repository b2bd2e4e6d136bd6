//! Tests of Hugging Face's files and the jobs that they become.

use super::*;
use crate::{Job, Model, OptimizerImplementation, OptimizerKind, Precision, ResNetDepth, ResNetFamily, Transformer};

const GPT2: &str = r#"{"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2}"#;
const LLAMA: &str = r#"{"model_type": "llama", "hidden_size": 4096, "torch_dtype": "bfloat16", "use_cache": true}"#;

fn read(config: &str, arguments: Option<&str>) -> Result<Import, Vec<Problem>> {
    let source = |text| Source { name: "x", text };
    Import::read(source(config), arguments.map(source))
}

#[track_caller]
fn job(config: &str, arguments: Option<&str>) -> Job {
    read(config, arguments).unwrap().job.resolve().unwrap()
}

#[track_caller]
fn transformer(config: &str, arguments: Option<&str>) -> Transformer {
    let Model::Transformer(model) = job(config, arguments).model.clone() else { panic!("{config} is a transformer") };
    model
}

#[track_caller]
fn check_problem(config: &str, arguments: Option<&str>, problem: &str) {
    let problems = read(config, arguments).unwrap_err();
    assert_eq!(problems.iter().map(Problem::without_place).collect::<Vec<_>>(), [problem]);
}

#[track_caller]
fn check_note(arguments: &str, key: &str, note: &str) {
    let import = read(GPT2, Some(arguments)).unwrap();
    let notes = import.understood.iter().chain(&import.ignored);
    let found = notes.filter(|found| found.key == key).map(|found| found.note.as_str()).collect::<Vec<_>>();
    assert_eq!(found, [note]);
}

#[test]
fn what_a_model_does_not_say_is_transformers_default() {
    let gpt2 = transformer(GPT2, None);
    assert_eq!((gpt2.intermediate, gpt2.vocabulary, gpt2.head_dim, gpt2.max_positions), (256, 50_257, 16, 1024));
    assert!(gpt2.tied_head && gpt2.use_cache);
    let llama = transformer(r#"{"architectures": ["LlamaForCausalLM"]}"#, None);
    assert_eq!((llama.hidden, llama.intermediate, llama.kv_heads, llama.max_positions), (4096, 11_008, 32, 2048));
    assert_eq!(llama.norm, crate::Norm::RmsNorm(1e-6));
    assert!(!llama.tied_head);
}

#[test]
fn kinds_of_llama_say_what_they_changed() {
    let mistral = transformer(r#"{"model_type": "mistral", "vocab_size": 32768, "attention_bias": true}"#, None);
    assert_eq!((mistral.kv_heads, mistral.intermediate, mistral.max_positions), (8, 14_336, 131_072));
    assert!(!mistral.qkv_bias && !mistral.attention_bias, "Mistral's code reads no such key");
    let qwen2 = transformer(r#"{"model_type": "qwen2", "num_key_value_heads": 4, "use_sliding_window": false}"#, None);
    assert_eq!((qwen2.vocabulary, qwen2.kv_heads, qwen2.intermediate), (151_936, 4, 22_016));
    assert!(qwen2.qkv_bias && !qwen2.attention_bias);
}

#[test]
fn bert_has_keys_of_its_own() {
    let config = r#"{"model_type": "bert", "hidden_size": 128, "num_attention_heads": 2, "hidden_dropout_prob": 0.2,
        "type_vocab_size": 1, "hidden_act": "gelu_pytorch_tanh", "use_cache": true, "max_position_embeddings": 64}"#;
    let bert = job(config, Some("use_cache: false\nmax_length: 32"));
    assert_eq!((bert.sequence, bert.keep_outputs), (32, false));
    let Model::Bert(bert) = bert.model.clone() else { panic!("a BERT") };
    assert_eq!((bert.hidden, bert.intermediate, bert.token_types), (128, 3072, 1));
    assert_eq!((bert.residual_dropout, bert.attention_dropout), (0.2, 0.1));
}

#[test]
fn residual_networks_are_those_of_transformers() {
    let depth = |config| match job(config, None).model.clone() {
        Model::ResNet(resnet) => {
            assert_eq!(resnet.family, ResNetFamily::Transformers);
            (resnet.depth, resnet.classes)
        }
        other => panic!("{other:?} is no residual network"),
    };
    assert_eq!(depth(r#"{"model_type": "resnet", "embedding_size": 64, "hidden_act": "relu"}"#), (ResNetDepth::D50, 2));
    let basic = r#"{"model_type": "resnet", "depths": [2, 2, 2, 2], "hidden_sizes": [64, 128, 256, 512],
        "layer_type": "basic", "num_labels": 10}"#;
    assert_eq!(depth(basic), (ResNetDepth::D18, 10));
    assert_eq!(depth(r#"{"model_type": "resnet", "depths": [3, 4, 23, 3]}"#), (ResNetDepth::D101, 2));
    let problem = "depths: residual networks of this shape are not supported; the supported ones are ResNet-18, 34, 50, \
                   101 and 152";
    check_problem(r#"{"model_type": "resnet", "depths": [3, 4, 24, 3]}"#, None, problem);
    check_problem(r#"{"model_type": "resnet", "embedding_size": 32}"#, None, problem);
    let problem = "hidden_act: `gelu` is not supported; the only supported activation is relu";
    check_problem(r#"{"model_type": "resnet", "hidden_act": "gelu"}"#, None, problem);
}

#[test]
fn kinds_that_only_scripts_can_train_are_refused_alike() {
    for kind in ["mixtral", "vit", "t5"] {
        let problem = format!(
            "model_type: models of type `{kind}` are not supported; the supported types are gpt2, llama, mistral, \
             qwen2, bert, resnet, and `snapscope run -- python train.py` records any script exactly"
        );
        check_problem(&format!("{{\"model_type\": \"{kind}\"}}"), None, &problem);
    }
}

#[test]
fn what_training_does_not_say_is_trainers_default() {
    let job = job(GPT2, Some("{}"));
    assert_eq!((job.batch, job.steps, job.clip_grad_norm), (8, 3, Some(1.0)));
    assert_eq!(job.optimizer.implementation, OptimizerImplementation::Fused);
    assert_eq!((job.optimizer.learning_rate, job.optimizer.weight_decay), (5e-5, 0.0));
    assert_eq!(job.evaluation, None);
}

#[test]
fn precision_is_that_of_the_training_or_of_the_weights() {
    let precision = |config, arguments| job(config, arguments).precision;
    assert_eq!(precision(GPT2, None), Precision::Fp32);
    assert_eq!(precision(LLAMA, None), Precision::Bf16);
    assert_eq!(precision(LLAMA, Some("{}")), Precision::Bf16);
    assert!(matches!(precision(LLAMA, Some("bf16: true")), Precision::Autocast(amp) if !amp.fp16));
    assert!(matches!(precision(GPT2, Some("fp16: true")), Precision::Autocast(amp) if amp.fp16 && amp.grad_scaler));
    assert_eq!(precision(GPT2, Some("tf32: true")), Precision::Tf32);
    check_note("bf16: true\ntf32: true", "tf32", "precision is already autocast-bf16");
    check_problem(GPT2, Some("bf16: true\nfp16: true"), "fp16: `bf16` and `fp16` are both on; keep one of them");
}

#[test]
fn the_cache_and_the_outputs_are_as_the_arguments_say() {
    let uses_cache = |arguments| transformer(LLAMA, Some(arguments)).use_cache;
    assert!(job(LLAMA, Some("{}")).keep_outputs);
    assert!(!job(LLAMA, Some("use_cache: false")).keep_outputs);
    assert!(uses_cache("{}"));
    assert!(!uses_cache("use_cache: false"));
    assert!(!uses_cache("gradient_checkpointing: true"));
}

#[test]
fn optimizers_are_translated() {
    let optimizer = |arguments| job(GPT2, Some(arguments)).optimizer;
    let sgd = optimizer("optim: sgd");
    assert_eq!((sgd.kind, sgd.momentum, sgd.nesterov), (OptimizerKind::Sgd, 0.0, false));
    let adamw = optimizer("optim: adamw_torch\nadam_beta2: 0.95\nlearning_rate: '2e-5'");
    assert_eq!((adamw.kind, adamw.betas, adamw.epsilon), (OptimizerKind::AdamW, (0.9, 0.95), 1e-8));
    assert_eq!((adamw.implementation, adamw.learning_rate), (OptimizerImplementation::Foreach, 2e-5));
    check_note("optim: adafactor", "optim", "`adafactor` is not modeled; the figures are for adamw_torch");
    check_note("max_grad_norm: 0", "max_grad_norm", "no clipping");
}

#[test]
fn each_key_is_listed_with_its_reason() {
    check_note("logging_steps: 10", "logging_steps", notes::NO_MEMORY);
    check_note("deepspeed: ds.json", "deepspeed", notes::PLAIN);
    check_note("deepspeed: null", "deepspeed", "not set");
    check_note("torch_compile: false", "torch_compile", "off");
    check_note("torch_compile: true", "torch_compile", notes::PLAIN);
    check_note("flavour: 3", "flavour", "unknown key");
    check_note("max_steps: -1", "max_steps", "off");
    let fewer = "steps = 20: memory use repeats from step to step; --steps sets another number";
    check_note("max_steps: 900", "max_steps", fewer);
    check_note("eval_steps: 5", "eval_steps", "no evaluation without eval_strategy");
    check_note("eval_strategy: steps\neval_steps: 5", "eval_steps", "evaluation.every = 5");
    check_note("max_seq_length: 512", "max_seq_length", "sequence = 512");
    let shorter = "sequence = 1024; the model accepts up to 1024; --seq-len sets another length";
    check_note("max_seq_length: 4096", "max_position_embeddings", shorter);
}

#[test]
fn every_key_of_a_file_is_listed() {
    let arguments = "a: 1\nbf16: false\nfp16: null\neval_steps: 1\noptim: sgd\nmax_steps: 2\nmax_grad_norm: 2.0\n\
        num_train_epochs: 3\nper_device_eval_batch_size: 4\neval_strategy: epoch\ntf32: true\nseed: 1\nuse_cache: true";
    let import = read(GPT2, Some(arguments)).unwrap();
    for key in arguments.lines().map(|line| line.split(':').next().unwrap()) {
        let count = import.understood.iter().chain(&import.ignored).filter(|note| note.key == key).count();
        assert_eq!(count, 1, "{key}");
    }
}

#[test]
fn models_that_can_not_be_recorded_are_refused() {
    let gates = "hidden_act: `gelu` is not supported; the supported activations are silu, swish";
    check_problem(r#"{"model_type": "llama", "hidden_act": "gelu"}"#, None, gates);
    let number = "per_device_train_batch_size: expected a whole number, not `many`";
    check_problem(GPT2, Some("per_device_train_batch_size: many"), number);
    check_problem(GPT2, Some("- 1"), "training arguments must be a table of keys, not a list");
    let own = "`x` is not a Hugging Face config; omit `x`, or provide the model's config.json";
    check_problem("model = 'gpt2'", Some("{}"), own);
}
