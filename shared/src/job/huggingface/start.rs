//! Defaults of transformers' classes, where they differ from the defaults of this project.

use super::super::raw::{RawModel, Sizes};

pub(super) fn gpt2() -> RawModel {
    transformer("gpt2")
}

pub(super) fn llama() -> RawModel {
    RawModel { intermediate: Some(11_008), max_positions: Some(2048), norm_epsilon: Some(1e-6), ..transformer("llama") }
}

pub(super) fn mistral() -> RawModel {
    RawModel {
        intermediate: Some(14_336),
        kv_heads: Some(8),
        max_positions: Some(131_072),
        norm_epsilon: Some(1e-6),
        ..transformer("llama")
    }
}

/// Returns the defaults of Mixtral: eight experts, two of which compute a token.
pub(super) fn mixtral() -> RawModel {
    RawModel {
        intermediate: Some(14_336),
        max_positions: Some(131_072),
        rope_theta: Some(1_000_000.0),
        kv_heads: Some(8),
        experts: Some(8),
        experts_per_token: Some(2),
        ..transformer("llama")
    }
}

/// Returns the defaults of Qwen2, whose queries, keys and values have a bias, whatever a config says.
pub(super) fn qwen2() -> RawModel {
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
pub(super) fn bert() -> RawModel {
    RawModel { max_positions: Some(512), ..encoder("bert") }
}

/// Returns the defaults of ViT: two classes unless the config names them.
pub(super) fn vit() -> RawModel {
    RawModel { classes: Some(2), ..encoder("vit") }
}

/// Returns the defaults of ResNet: two classes unless the config names them.
pub(super) fn resnet() -> RawModel {
    RawModel {
        family: Some("resnet".to_owned()),
        architecture: Some("transformers".to_owned()),
        classes: Some(2),
        ..RawModel::default()
    }
}

fn encoder(family: &str) -> RawModel {
    RawModel {
        family: Some(family.to_owned()),
        hidden: Some(Sizes::One(768)),
        intermediate: Some(3072),
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
