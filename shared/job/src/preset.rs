//! Presets: models with published sizes.

use super::cnn::{Cnn, CnnLayer};
use super::domain::Domain;
use super::model::{
    Bert, CarryHidden, Mlp, MlpActivation, Model, RecurrentCell, ResNet, ResNetDepth, ResNetFamily, Rnn,
};
use super::transformer::{Activation, Attention, Dropout, Norm, Positions, Transformer, TransformerFamily};

type Make = fn() -> Model;

/// Name of each preset, where its sizes are published, and its model; roughly sorted by family and size.
const PRESETS: &[(&str, &str, Make)] = &[
    ("mlp", "", mlp),
    ("resnet18", "torchvision.models.resnet18", || resnet(ResNetDepth::D18)),
    ("resnet34", "torchvision.models.resnet34", || resnet(ResNetDepth::D34)),
    ("resnet50", "torchvision.models.resnet50", || resnet(ResNetDepth::D50)),
    ("resnet101", "torchvision.models.resnet101", || resnet(ResNetDepth::D101)),
    ("resnet152", "torchvision.models.resnet152", || resnet(ResNetDepth::D152)),
    ("alexnet", "torchvision.models.alexnet", alexnet),
    ("vgg16", "torchvision.models.vgg16", || vgg16(false)),
    ("vgg16-bn", "torchvision.models.vgg16_bn", || vgg16(true)),
    ("gpt2", "openai-community/gpt2", || gpt2(12, 768, 12)),
    ("gpt2-medium", "openai-community/gpt2-medium", || gpt2(24, 1024, 16)),
    ("gpt2-large", "openai-community/gpt2-large", || gpt2(36, 1280, 20)),
    ("gpt2-xl", "openai-community/gpt2-xl", || gpt2(48, 1600, 25)),
    ("tinyllama-1.1b", "TinyLlama/TinyLlama-1.1B-Chat-v1.0", || {
        Model::Transformer(Transformer { kv_heads: 4, max_positions: 2048, ..llama([22, 2048, 5632, 32]) })
    }),
    ("llama-2-7b", "meta-llama/Llama-2-7b-hf", || Model::Transformer(llama([32, 4096, 11_008, 32]))),
    ("llama-3-8b", "meta-llama/Meta-Llama-3-8B", || llama3(8192, false, [32, 4096, 14_336, 32])),
    ("llama-3.1-8b", "meta-llama/Llama-3.1-8B", || llama3(131_072, false, [32, 4096, 14_336, 32])),
    ("llama-3.2-1b", "meta-llama/Llama-3.2-1B", || llama3(131_072, true, [16, 2048, 8192, 32])),
    ("llama-3.2-3b", "meta-llama/Llama-3.2-3B", || llama3(131_072, true, [28, 3072, 8192, 24])),
    ("llama-3-70b", "meta-llama/Meta-Llama-3-70B", || llama3(8192, false, [80, 8192, 28_672, 64])),
    ("mistral-7b", "mistralai/Mistral-7B-v0.3", mistral),
    ("qwen2.5-0.5b", "Qwen/Qwen2.5-0.5B", || qwen2(151_936, 2, true, [24, 896, 4864, 14])),
    ("qwen2.5-1.5b", "Qwen/Qwen2.5-1.5B", || qwen2(151_936, 2, true, [28, 1536, 8960, 12])),
    ("qwen2.5-7b", "Qwen/Qwen2.5-7B", || qwen2(152_064, 4, false, [28, 3584, 18_944, 28])),
    ("bert-base", "google-bert/bert-base-uncased", || bert(12, 768, 12)),
    ("bert-large", "google-bert/bert-large-uncased", || bert(24, 1024, 16)),
    ("lstm-medium", "arXiv:1409.2329", || lstm(650, 0.5)),
    ("lstm-large", "arXiv:1409.2329", || lstm(1500, 0.65)),
];

/// The names of the presets.
pub(super) struct Presets;

impl Domain for Presets {
    fn words(&self) -> Vec<&'static str> {
        Model::presets().collect()
    }
}

impl Model {
    /// Returns the names of all presets.
    pub fn presets() -> impl Iterator<Item = &'static str> + Clone {
        PRESETS.iter().map(|(name, ..)| *name)
    }

    /// Returns where the sizes of a preset are published; empty for `mlp`, which is this project's own.
    ///
    /// This is a model on Hugging Face, a function, or a paper.
    pub fn preset_source(name: &str) -> Option<&'static str> {
        PRESETS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name)).map(|(_, source, _)| *source)
    }

    /// Returns the model of a preset, as its published config describes it.
    pub fn preset(name: &str) -> Option<Self> {
        PRESETS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name)).map(|(.., model)| model())
    }
}

fn mlp() -> Model {
    Model::Mlp(Mlp {
        input_features: 1024,
        hidden_features: vec![4096, 4096],
        classes: 1000,
        activation: MlpActivation::Relu,
        bias: true,
        dropout: 0.0,
    })
}

/// Returns a residual network as `torchvision.models` builds it for ImageNet.
fn resnet(depth: ResNetDepth) -> Model {
    let family = ResNetFamily::Torchvision;
    Model::ResNet(ResNet { family, depth, classes: 1000, image_size: 224, channels_last: false })
}

/// Returns a model with the config of `openai-community/gpt2…` on Hugging Face; these differ only in three sizes.
fn gpt2(layers: u64, hidden: u64, heads: u64) -> Model {
    Model::Transformer(Transformer {
        family: TransformerFamily::Gpt2,
        vocabulary: 50_257,
        layers,
        hidden,
        intermediate: 4 * hidden,
        heads,
        kv_heads: heads,
        head_dim: hidden / heads,
        max_positions: 1024,
        norm: Norm::LayerNorm(1e-5),
        positions: Positions::Learned,
        activation: Activation::GeluNew,
        qkv_bias: true,
        attention_bias: true,
        mlp_bias: true,
        tied_head: true,
        dropout: Dropout { embedding: 0.1, attention: 0.1, residual: 0.1 },
        attention: Attention::Sdpa,
        use_cache: true,
    })
}

/// Returns a model with the config of `meta-llama/Llama-2-7b-hf`, with other sizes.
fn llama([layers, hidden, intermediate, heads]: [u64; 4]) -> Transformer {
    Transformer {
        family: TransformerFamily::Llama,
        vocabulary: 32_000,
        layers,
        hidden,
        intermediate,
        heads,
        kv_heads: heads,
        head_dim: hidden / heads,
        max_positions: 4096,
        norm: Norm::RmsNorm(1e-5),
        positions: Positions::Rotary(10_000.0),
        activation: Activation::SwiGlu,
        qkv_bias: false,
        attention_bias: false,
        mlp_bias: false,
        tied_head: false,
        dropout: Dropout { embedding: 0.0, attention: 0.0, residual: 0.0 },
        attention: Attention::Sdpa,
        use_cache: true,
    }
}

/// Returns a model with what the configs of the third generation share.
fn llama3(max_positions: u64, tied_head: bool, sizes: [u64; 4]) -> Model {
    let positions = Positions::Rotary(500_000.0);
    let model = llama(sizes);
    Model::Transformer(Transformer { vocabulary: 128_256, kv_heads: 8, max_positions, positions, tied_head, ..model })
}

/// Returns `mistralai/Mistral-7B-v0.3`, which unlike the first version has no sliding window.
fn mistral() -> Model {
    let positions = Positions::Rotary(1_000_000.0);
    let model = llama([32, 4096, 14_336, 32]);
    Model::Transformer(Transformer { vocabulary: 32_768, kv_heads: 8, max_positions: 32_768, positions, ..model })
}

/// Returns a model with what the configs of `Qwen/Qwen2.5-…` share, such as a bias of queries, keys and values.
fn qwen2(vocabulary: u64, kv_heads: u64, tied_head: bool, sizes: [u64; 4]) -> Model {
    Model::Transformer(Transformer {
        vocabulary,
        kv_heads,
        max_positions: 32_768,
        norm: Norm::RmsNorm(1e-6),
        positions: Positions::Rotary(1_000_000.0),
        qkv_bias: true,
        tied_head,
        ..llama(sizes)
    })
}

/// Returns a model with the config of `google-bert/bert-…-uncased` on Hugging Face; these differ only in three sizes.
fn bert(layers: u64, hidden: u64, heads: u64) -> Model {
    Model::Bert(Bert {
        vocabulary: 30_522,
        layers,
        hidden,
        intermediate: 4 * hidden,
        heads,
        max_positions: 512,
        token_types: 2,
        norm_epsilon: 1e-12,
        activation: Activation::Gelu,
        residual_dropout: 0.1,
        attention_dropout: 0.1,
        attention: Attention::Sdpa,
    })
}

/// Returns the model for the Penn Treebank of Zaremba et al., "Recurrent Neural Network Regularization".
fn lstm(hidden: u64, dropout: f64) -> Model {
    Model::Rnn(Rnn {
        cell: RecurrentCell::Lstm,
        vocabulary: 10_000,
        embedding: hidden,
        layers: 2,
        hidden,
        dropout,
        tied_head: false,
        carry_hidden: CarryHidden::Detach,
    })
}

/// Returns `torchvision.models.alexnet`.
fn alexnet() -> Model {
    let features = "conv 64 11 stride 4 padding 2, relu, pool 3 stride 2, conv 192 5 padding 2, relu, pool 3 stride 2, \
                    conv 384 3 padding 1, relu, conv 256 3 padding 1, relu, conv 256 3 padding 1, relu, \
                    pool 3 stride 2, adaptive 6";
    let classifier = "flatten, dropout 0.5, linear 4096, relu, dropout 0.5, linear 4096, relu, linear 1000";
    images(&format!("{features}, {classifier}"))
}

/// Returns `torchvision.models.vgg16`, or `vgg16_bn` if it has norms.
fn vgg16(has_norms: bool) -> Model {
    let norm = if has_norms { "norm, " } else { "" };
    let stage = |(count, channels): (usize, u64)| {
        format!("conv {channels} 3 padding 1, {norm}relu, ").repeat(count) + "pool 2, "
    };
    let features: String = [(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)].map(stage).concat();
    let classifier = "adaptive 7, flatten, linear 4096, relu, dropout 0.5, linear 4096, relu, dropout 0.5, linear 1000";
    images(&(features + classifier))
}

/// Returns a model of images with layers as a config has them; activations work in place.
fn images(layers: &str) -> Model {
    let layer = |text: &str| match text {
        "relu" => CnnLayer::Relu { inplace: true },
        text => CnnLayer::parse(text).expect("the layers of a preset are valid"),
    };
    let layers = layers.split(", ").map(layer).collect();
    Model::Cnn(Cnn { input_channels: 3, image_size: 224, channels_last: false, layers })
}
