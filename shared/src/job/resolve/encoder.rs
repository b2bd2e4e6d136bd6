//! Resolves encoders: a preset, and the keys that override it.

use super::super::attention::ATTENTIONS;
use super::super::encoder::{Bert, ENCODER_ACTIVATIONS, Encoder, Vit};
use super::super::raw::RawModel;
use super::Resolver;

/// Keys of BERT models, besides `family` and `preset`.
pub(super) const BERT_KEYS: &[&str] = &[
    "vocabulary",
    "layers",
    "hidden",
    "intermediate",
    "heads",
    "max_positions",
    "token_types",
    "norm_epsilon",
    "activation",
    "dropout",
    "residual_dropout",
    "attention_dropout",
    "attention",
];

/// Keys of vision transformers, besides `family` and `preset`.
pub(super) const VIT_KEYS: &[&str] = &[
    "layers",
    "hidden",
    "intermediate",
    "heads",
    "image_size",
    "patch_size",
    "classes",
    "qkv_bias",
    "norm_epsilon",
    "activation",
    "dropout",
    "residual_dropout",
    "attention_dropout",
    "attention",
];

impl Resolver {
    pub(super) fn bert(&mut self, raw: &RawModel, base: &Bert) -> Bert {
        Bert {
            encoder: self.encoder(raw, &base.encoder),
            vocabulary: self.whole("model.vocabulary", raw.vocabulary, base.vocabulary),
            max_positions: self.whole("model.max_positions", raw.max_positions, base.max_positions),
            token_types: self.whole("model.token_types", raw.token_types, base.token_types),
        }
    }

    pub(super) fn vit(&mut self, raw: &RawModel, base: &Vit) -> Vit {
        let vit = Vit {
            encoder: self.encoder(raw, &base.encoder),
            image_size: self.whole("model.image_size", raw.image_size, base.image_size),
            patch_size: self.whole("model.patch_size", raw.patch_size, base.patch_size),
            classes: self.whole("model.classes", raw.classes, base.classes),
            qkv_bias: raw.qkv_bias.unwrap_or(base.qkv_bias),
        };
        if vit.patch_size > vit.image_size {
            let message =
                format!("patches of {} pixels don't fit an image of {} pixels", vit.patch_size, vit.image_size);
            self.problem("model.patch_size", message, "write at most `image_size`");
        }
        vit
    }

    fn encoder(&mut self, raw: &RawModel, base: &Encoder) -> Encoder {
        let hidden = self.one_size(raw.hidden.as_ref(), base.hidden);
        let heads = self.whole("model.heads", raw.heads, base.heads);
        if !hidden.is_multiple_of(heads) {
            let message = format!("{hidden} features are not divisible by {heads} heads");
            self.problem("model.heads", message, "change `heads` or `hidden`");
        }
        let usual = if raw.hidden.is_some() { 4 * hidden } else { base.intermediate };
        let activation = raw.activation.as_deref();
        // `dropout` sets both probabilities, and each has a key that overrides it.
        let everywhere = raw.dropout.map(|dropout| self.real("model.dropout", Some(dropout), 0.0));
        let residual_dropout = everywhere.unwrap_or(base.residual_dropout);
        let attention_dropout = everywhere.unwrap_or(base.attention_dropout);
        Encoder {
            layers: self.layer_count(raw, base.layers),
            hidden,
            intermediate: self.whole("model.intermediate", raw.intermediate, usual),
            heads,
            norm_epsilon: self.real("model.norm_epsilon", raw.norm_epsilon, base.norm_epsilon),
            activation: self.choice("model.activation", activation, base.activation, ENCODER_ACTIVATIONS),
            residual_dropout: self.real("model.residual_dropout", raw.residual_dropout, residual_dropout),
            attention_dropout: self.real("model.attention_dropout", raw.attention_dropout, attention_dropout),
            attention: self.choice("model.attention", raw.attention.as_deref(), base.attention, ATTENTIONS),
        }
    }
}
