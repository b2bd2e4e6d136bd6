//! Resolves encoders: a preset, and the keys that override it.

use super::super::encoder::{Bert, ENCODER_ACTIVATIONS, Encoder, Vit};
use super::super::raw::{MODEL, RawModel};
use super::Resolver;
use super::table::Table;

impl Resolver {
    pub(super) fn bert(&mut self, raw: &mut Table<'_, RawModel>, base: &Bert) -> Bert {
        Bert {
            encoder: self.encoder(raw, &base.encoder),
            vocabulary: self.whole(raw, &MODEL.vocabulary, base.vocabulary),
            max_positions: self.whole(raw, &MODEL.max_positions, base.max_positions),
            token_types: self.whole(raw, &MODEL.token_types, base.token_types),
        }
    }

    pub(super) fn vit(&mut self, raw: &mut Table<'_, RawModel>, base: &Vit) -> Vit {
        let vit = Vit {
            encoder: self.encoder(raw, &base.encoder),
            image_size: self.whole(raw, &MODEL.image_size, base.image_size),
            patch_size: self.whole(raw, &MODEL.patch_size, base.patch_size),
            classes: self.whole(raw, &MODEL.classes, base.classes),
            qkv_bias: raw.flag(&MODEL.qkv_bias, base.qkv_bias),
        };
        if vit.patch_size > vit.image_size {
            let message =
                format!("patches of {} pixels don't fit an image of {} pixels", vit.patch_size, vit.image_size);
            self.problem("model.patch_size", message, "write at most `image_size`");
        }
        vit
    }

    fn encoder(&mut self, raw: &mut Table<'_, RawModel>, base: &Encoder) -> Encoder {
        let hidden = self.one_size(raw, base.hidden);
        let heads = self.whole(raw, &MODEL.heads, base.heads);
        if !hidden.is_multiple_of(heads) {
            let message = format!("{hidden} features are not divisible by {heads} heads");
            self.problem("model.heads", message, "change `heads` or `hidden`");
        }
        let usual = if raw.given.hidden.is_some() { 4 * hidden } else { base.intermediate };
        // `dropout` sets both probabilities, and each has a key that overrides it.
        let everywhere = self.dropout_everywhere(raw);
        Encoder {
            layers: self.layer_count(raw, base.layers),
            hidden,
            intermediate: self.whole(raw, &MODEL.intermediate, usual),
            heads,
            norm_epsilon: self.real(raw, &MODEL.norm_epsilon, base.norm_epsilon),
            activation: self.word_of(raw, &MODEL.activation, ENCODER_ACTIVATIONS, base.activation),
            residual_dropout: self.real(raw, &MODEL.residual_dropout, everywhere.unwrap_or(base.residual_dropout)),
            attention_dropout: self.real(raw, &MODEL.attention_dropout, everywhere.unwrap_or(base.attention_dropout)),
            attention: self.word(raw, &MODEL.attention, base.attention),
        }
    }
}
