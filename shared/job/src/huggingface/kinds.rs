//! Kinds of models that are imported, with the defaults of transformers' classes.

use super::super::document::Value;
use super::super::model::{DEPTHS, ResNetDepth};
use super::super::raw::{RawModel, Sizes};
use super::super::reader::Reader;

/// A kind of model that can be recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// Value of `model_type`.
    pub(super) name: &'static str,
    /// Class that is trained.
    pub(super) class: &'static str,
    /// Family of the config's keys: `gpt2`, `llama`, `bert` or `resnet`.
    pub(super) keys: &'static str,
    /// Defaults of the class where they differ from those of this project.
    pub(super) start: fn() -> RawModel,
}

/// Kinds of models that can be recorded.
pub(super) const KINDS: &[Kind] = &[
    Kind { name: "gpt2", class: "GPT2LMHeadModel", keys: "gpt2", start: || transformer("gpt2") },
    Kind { name: "llama", class: "LlamaForCausalLM", keys: "llama", start: llama },
    Kind { name: "mistral", class: "MistralForCausalLM", keys: "llama", start: mistral },
    Kind { name: "qwen2", class: "Qwen2ForCausalLM", keys: "llama", start: qwen2 },
    Kind { name: "bert", class: "BertForMaskedLM", keys: "bert", start: bert },
    Kind { name: "resnet", class: "ResNetForImageClassification", keys: "resnet", start: resnet },
];

fn llama() -> RawModel {
    RawModel { intermediate: Some(11_008), max_positions: Some(2048), norm_epsilon: Some(1e-6), ..transformer("llama") }
}

fn mistral() -> RawModel {
    RawModel {
        intermediate: Some(14_336),
        kv_heads: Some(8),
        max_positions: Some(131_072),
        norm_epsilon: Some(1e-6),
        ..transformer("llama")
    }
}

/// Returns the defaults of Qwen2, whose queries, keys and values have a bias, whatever a config says.
fn qwen2() -> RawModel {
    RawModel {
        vocabulary: Some(151_936),
        intermediate: Some(22_016),
        max_positions: Some(32_768),
        norm_epsilon: Some(1e-6),
        qkv_bias: Some(true),
        attention_bias: Some(false),
        ..transformer("llama")
    }
}

/// Returns the defaults of BERT, where the width of the feed-forward network does not depend on that of the layers.
fn bert() -> RawModel {
    RawModel {
        family: Some("bert".to_owned()),
        hidden: Some(Sizes::One(768)),
        intermediate: Some(3072),
        max_positions: Some(512),
        ..RawModel::default()
    }
}

/// Returns the defaults of ResNet: two classes unless the config names them.
fn resnet() -> RawModel {
    RawModel {
        family: Some("resnet".to_owned()),
        architecture: Some("transformers".to_owned()),
        classes: Some(2),
        ..RawModel::default()
    }
}

fn transformer(architecture: &str) -> RawModel {
    RawModel {
        family: Some("transformer".to_owned()),
        architecture: Some(architecture.to_owned()),
        ..RawModel::default()
    }
}

/// Note on each of [`SHAPE_KEYS`].
pub(super) const SHAPE_NOTE: &str = "part of model.depth";

/// Keys that together decide which network it is.
pub(super) const SHAPE_KEYS: &[&str] = &["depths", "layer_type", "hidden_sizes", "embedding_size"];

/// Output channels of each stage of basic blocks.
const NARROW: [i64; 4] = [64, 128, 256, 512];

/// Output channels of each stage of bottlenecks.
const WIDE: [i64; 4] = [256, 512, 1024, 2048];

/// Output channels of the first convolution.
const STEM: i64 = 64;

/// Sets the depth of the network that a config describes; missing keys have the values of ResNet-50.
pub(super) fn resnet_shape(config: &Value, model: &mut RawModel, reader: &mut Reader<'_>) {
    let blocks = wholes(config, "depths", &ResNetDepth::D50.blocks().map(u64::cast_signed));
    let channels = wholes(config, "hidden_sizes", &WIDE);
    let kind = match config.get("layer_type") {
        Some(Value::Text(kind)) => kind.as_str(),
        _ => "bottleneck",
    };
    let has_stem = matches!(config.get("embedding_size"), None | Some(Value::Null | Value::Whole(STEM)));
    let known = DEPTHS.iter().find(|(_, depth)| {
        let of_blocks = if depth.has_bottlenecks() { ("bottleneck", WIDE) } else { ("basic", NARROW) };
        of_blocks.0 == kind && of_blocks.1[..] == channels && depth.blocks().map(u64::cast_signed)[..] == blocks
    });
    match known.filter(|_| has_stem) {
        Some((depth, _)) => model.depth = Some(*depth),
        None => {
            let message = "residual networks of this shape are not supported".to_owned();
            reader.problem("depths", message, "the supported ones are ResNet-18, 34, 50, 101 and 152");
        }
    }
}

/// Returns a list of whole numbers; other values become -1, which fits no network.
fn wholes(config: &Value, key: &str, usual: &[i64]) -> Vec<i64> {
    let Some(Value::List(items)) = config.get(key) else { return usual.to_vec() };
    items.iter().map(|item| if let Value::Whole(number) = item { *number } else { -1 }).collect()
}
