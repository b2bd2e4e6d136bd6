//! Resolves the model of a job: a preset or a family's defaults, and the keys that override them.

use super::super::activation::{ACTIVATIONS, Activation};
use super::super::attention::ATTENTIONS;
use super::super::family::{FAMILIES, Family};
use super::super::model::{
    ARCHITECTURES, DEPTHS, Dropout, MLP_ACTIVATIONS, Mlp, Model, NORMS, Norm, POSITIONS, Positions,
    RESNET_ARCHITECTURES, ResNet, Transformer, TransformerFamily, family_of,
};
use super::super::names::name_of;
use super::super::nearest::did_you_mean;
use super::super::problem::excerpt;
use super::super::raw::{RawModel, Sizes};
use super::Resolver;
use super::cnn::CNN_KEYS;
use super::encoder::{BERT_KEYS, VIT_KEYS};
use super::recurrent::RNN_KEYS;
use super::unet::UNET_KEYS;

/// Keys of each family, besides `family` and `preset`.
const KEYS: &[(Family, &[&str])] = &[
    (Family::Mlp, &["input", "hidden", "layers", "classes", "activation", "bias", "dropout"]),
    (Family::ResNet, &["architecture", "depth", "classes", "image_size", "channels_last"]),
    (
        Family::Transformer,
        &[
            "architecture",
            "vocabulary",
            "layers",
            "hidden",
            "intermediate",
            "experts",
            "experts_per_token",
            "experts_implementation",
            "routing",
            "heads",
            "kv_heads",
            "head_dim",
            "max_positions",
            "norm",
            "norm_epsilon",
            "positions",
            "rope_theta",
            "activation",
            "qkv_bias",
            "attention_bias",
            "mlp_bias",
            "tied_head",
            "dropout",
            "embedding_dropout",
            "attention_dropout",
            "residual_dropout",
            "attention",
            "use_cache",
        ],
    ),
    (Family::Bert, BERT_KEYS),
    (Family::Vit, VIT_KEYS),
    (Family::Unet, UNET_KEYS),
    (Family::Rnn, RNN_KEYS),
    (Family::Cnn, CNN_KEYS),
];

/// Returns the keys of the models of a family.
pub(in crate::job) fn keys_of(family: Family) -> &'static [&'static str] {
    KEYS.iter().find(|(known, _)| *known == family).map_or(&[], |(_, keys)| keys)
}

impl Resolver {
    pub(super) fn model(&mut self, raw: Option<&RawModel>, checkpointing: bool) -> Option<Model> {
        let Some(raw) = raw else {
            let presets = Model::presets().collect::<Vec<_>>().join(", ");
            self.problem(
                "model",
                "missing",
                format!("for example, write `model = \"gpt2\"`; the presets are {presets}"),
            );
            return None;
        };
        let base = self.base(raw)?;
        self.check_keys(raw, &base);
        Some(match base {
            Model::Mlp(base) => Model::Mlp(self.mlp(raw, &base)),
            Model::ResNet(base) => Model::ResNet(self.resnet(raw, &base)),
            Model::Transformer(base) => Model::Transformer(self.transformer(raw, &base, checkpointing)),
            Model::Bert(base) => Model::Bert(self.bert(raw, &base)),
            Model::Vit(base) => Model::Vit(self.vit(raw, &base)),
            Model::Unet(base) => Model::Unet(self.unet(raw, &base)),
            Model::Rnn(base) => Model::Rnn(self.rnn(raw, &base)),
            Model::Cnn(base) => Model::Cnn(self.cnn(raw, &base)),
        })
    }

    /// Returns the model whose sizes the keys override: the preset, or the default of the family.
    fn base(&mut self, raw: &RawModel) -> Option<Model> {
        let before = self.problems.len();
        let family =
            raw.family.as_deref().map(|family| self.choice("model.family", Some(family), Family::Mlp, FAMILIES));
        if self.problems.len() > before {
            return None;
        }
        let Some(preset) = raw.preset.as_deref() else {
            return self.usual(family, raw);
        };
        let Some(model) = Model::preset(preset) else {
            let hint = did_you_mean(preset, Model::presets());
            let hint =
                hint.unwrap_or_else(|| format!("the presets are {}", Model::presets().collect::<Vec<_>>().join(", ")));
            self.problem("model.preset", format!("unknown model `{}`", excerpt(preset)), hint);
            return None;
        };
        if family.is_some_and(|family| family != family_of(&model)) {
            let message = format!("`{preset}` belongs to the family {}", name_of(FAMILIES, &family_of(&model)));
            self.problem("model.family", message, "remove it");
        }
        if let Model::Transformer(transformer) = &model
            && self.architecture(raw, transformer.family) != transformer.family
        {
            let message = format!("`{preset}` has the architecture {}", name_of(ARCHITECTURES, &transformer.family));
            self.problem("model.architecture", message, "remove it");
        }
        Some(model)
    }

    fn architecture(&mut self, raw: &RawModel, default: TransformerFamily) -> TransformerFamily {
        self.choice("model.architecture", raw.architecture.as_deref(), default, ARCHITECTURES)
    }

    fn usual(&mut self, family: Option<Family>, raw: &RawModel) -> Option<Model> {
        let preset = match family {
            Some(Family::Mlp) => "mlp",
            Some(Family::ResNet) => "resnet50",
            Some(Family::Transformer) => match self.architecture(raw, TransformerFamily::Gpt2) {
                TransformerFamily::Gpt2 => "gpt2",
                TransformerFamily::Llama => "llama-2-7b",
            },
            Some(Family::Bert) => "bert-base",
            Some(Family::Vit) => "vit-b-16",
            Some(Family::Unet) => "sd-1.5",
            Some(Family::Rnn) => "lstm-medium",
            Some(Family::Cnn) => "alexnet",
            None => {
                self.problem(
                    "model",
                    "either `preset` or `family` is required",
                    "for example, write preset = \"gpt2\"",
                );
                return None;
            }
        };
        Model::preset(preset)
    }

    /// Reports keys that only models of other families have.
    fn check_keys(&mut self, raw: &RawModel, base: &Model) {
        let family = family_of(base);
        let own = keys_of(family);
        for key in raw.keys_set().filter(|key| !["preset", "family"].contains(key) && !own.contains(key)) {
            let others = FAMILIES.iter().filter(|(_, other)| keys_of(*other).contains(&key)).map(|(name, _)| *name);
            let others = alternatives(&others.collect::<Vec<_>>());
            let message =
                format!("only {others} models have this key, and this is a {} model", name_of(FAMILIES, &family));
            self.problem(&format!("model.{key}"), message, "remove it");
        }
    }

    fn mlp(&mut self, raw: &RawModel, base: &Mlp) -> Mlp {
        Mlp {
            input_features: self.whole("model.input", raw.input, base.input_features),
            hidden_features: self.hidden_features(raw, &base.hidden_features),
            classes: self.whole("model.classes", raw.classes, base.classes),
            activation: self.choice("model.activation", raw.activation.as_deref(), base.activation, MLP_ACTIVATIONS),
            bias: raw.bias.unwrap_or(base.bias),
            dropout: self.real("model.dropout", raw.dropout, base.dropout),
        }
    }

    /// Returns a list of sizes, or one size repeated for `layers` layers.
    fn hidden_features(&mut self, raw: &RawModel, base: &[u64]) -> Vec<u64> {
        let usual = base.len() as u64;
        let layers = self.layer_count(raw, usual);
        match &raw.hidden {
            Some(Sizes::Each(sizes)) => {
                if raw.layers.is_some() && layers != sizes.len() as u64 {
                    self.problem("model.layers", "`hidden` lists a different number of layers", "remove it");
                }
                if !sizes.is_empty() {
                    self.whole("model.layers", Some(sizes.len() as u64), usual);
                }
                sizes.iter().map(|size| self.whole("model.hidden", Some(*size), 1)).collect()
            }
            Some(Sizes::One(size)) => vec![self.whole("model.hidden", Some(*size), 1); layers as usize],
            None if raw.layers.is_some() => vec![base[0]; layers as usize],
            None => base.to_vec(),
        }
    }

    fn resnet(&mut self, raw: &RawModel, base: &ResNet) -> ResNet {
        let depth = raw.depth.map(|depth| {
            let known = DEPTHS.iter().find(|(known, _)| *known == depth);
            if known.is_none() {
                self.problem(
                    "model.depth",
                    format!("residual networks of depth {depth} are not supported"),
                    "write 18, 34, 50, 101 or 152",
                );
            }
            known.map_or(base.depth, |(_, depth)| *depth)
        });
        ResNet {
            family: self.choice("model.architecture", raw.architecture.as_deref(), base.family, RESNET_ARCHITECTURES),
            depth: depth.unwrap_or(base.depth),
            classes: self.whole("model.classes", raw.classes, base.classes),
            image_size: self.whole("model.image_size", raw.image_size, base.image_size),
            channels_last: raw.channels_last.unwrap_or(base.channels_last),
        }
    }

    fn transformer(&mut self, raw: &RawModel, base: &Transformer, checkpointing: bool) -> Transformer {
        let hidden = self.one_size(raw.hidden.as_ref(), base.hidden);
        let heads = self.whole("model.heads", raw.heads, base.heads);
        let resized = raw.hidden.is_some() || raw.heads.is_some();
        let head_dim = if resized { (hidden / heads).max(1) } else { base.head_dim };
        let kv_heads = if raw.heads.is_some() { heads } else { base.kv_heads };
        let activation = self.choice("model.activation", raw.activation.as_deref(), base.activation, ACTIVATIONS);
        let intermediate =
            if raw.hidden.is_some() { usual_intermediate(hidden, activation) } else { base.intermediate };
        let model = Transformer {
            family: base.family,
            vocabulary: self.whole("model.vocabulary", raw.vocabulary, base.vocabulary),
            layers: self.layer_count(raw, base.layers),
            hidden,
            intermediate: self.whole("model.intermediate", raw.intermediate, intermediate),
            experts: self.experts(raw, base.experts.as_ref()),
            heads,
            kv_heads: self.whole("model.kv_heads", raw.kv_heads, kv_heads),
            head_dim: self.whole("model.head_dim", raw.head_dim, head_dim),
            max_positions: self.whole("model.max_positions", raw.max_positions, base.max_positions),
            norm: self.norm(raw, base.norm),
            positions: self.positions(raw, base.positions),
            activation,
            qkv_bias: raw.qkv_bias.or(raw.attention_bias).unwrap_or(base.qkv_bias),
            attention_bias: raw.attention_bias.unwrap_or(base.attention_bias),
            mlp_bias: raw.mlp_bias.unwrap_or(base.mlp_bias),
            tied_head: raw.tied_head.unwrap_or(base.tied_head),
            dropout: self.dropout(raw, base.dropout),
            attention: self.choice("model.attention", raw.attention.as_deref(), base.attention, ATTENTIONS),
            use_cache: raw.use_cache.unwrap_or(base.use_cache && !checkpointing),
        };
        self.check_heads(raw, &model);
        self.check_expert_model(&model);
        if checkpointing && model.use_cache {
            self.problem(
                "model.use_cache",
                "checkpointing computes layers twice, so a cache cannot be used",
                "remove it",
            );
        }
        model
    }

    pub(super) fn one_size(&mut self, raw: Option<&Sizes>, default: u64) -> u64 {
        match raw {
            Some(Sizes::One(size)) => self.whole("model.hidden", Some(*size), default),
            Some(Sizes::Each(_)) => {
                self.problem("model.hidden", "all layers of this model have the same size", "write a whole number");
                default
            }
            None => default,
        }
    }

    fn check_heads(&mut self, raw: &RawModel, model: &Transformer) {
        let Transformer { hidden, heads, kv_heads, head_dim, .. } = *model;
        if raw.head_dim.is_none() && (raw.hidden.is_some() || raw.heads.is_some()) && hidden % heads != 0 {
            let message = format!("{hidden} features are not divisible by {heads} heads");
            self.problem("model.heads", message, "change `heads` or `hidden`, or set `head_dim`");
        } else if model.family == TransformerFamily::Gpt2 && heads * head_dim != hidden {
            let message =
                format!("{heads} heads of {head_dim} features are not the {hidden} features that gpt2 splits");
            self.problem("model.head_dim", message, "remove it");
        }
        if heads % kv_heads != 0 {
            let message = format!("{heads} query heads are not divisible by {kv_heads} key-value heads");
            self.problem("model.kv_heads", message, "write a divisor");
        }
        if model.family == TransformerFamily::Gpt2 && kv_heads != heads {
            let message = "gpt2 has the same number of key and query heads";
            self.problem("model.kv_heads", message, "remove it, or write architecture = \"llama\"");
        }
        if matches!(model.positions, Positions::Rotary(_)) && head_dim % 2 != 0 {
            let message = format!("rotary positions rotate pairs of features, but a head has {head_dim}");
            self.problem("model.head_dim", message, "write an even number");
        }
    }

    fn norm(&mut self, raw: &RawModel, base: Norm) -> Norm {
        let (is_layer_norm, epsilon) = match base {
            Norm::LayerNorm(epsilon) => (true, epsilon),
            Norm::RmsNorm(epsilon) => (false, epsilon),
        };
        let epsilon = self.real("model.norm_epsilon", raw.norm_epsilon, epsilon);
        let is_layer_norm = self.choice("model.norm", raw.norm.as_deref(), is_layer_norm, NORMS);
        if is_layer_norm { Norm::LayerNorm(epsilon) } else { Norm::RmsNorm(epsilon) }
    }

    fn positions(&mut self, raw: &RawModel, base: Positions) -> Positions {
        let (are_learned, theta) = match base {
            Positions::Learned => (true, 10_000.0),
            Positions::Rotary(theta) => (false, theta),
        };
        let theta = self.real("model.rope_theta", raw.rope_theta, theta);
        if !self.choice("model.positions", raw.positions.as_deref(), are_learned, POSITIONS) {
            return Positions::Rotary(theta);
        }
        if raw.rope_theta.is_some() {
            self.problem("model.rope_theta", "learned positions have no rope base", "remove it");
        }
        Positions::Learned
    }

    /// Returns the three probabilities: `dropout` sets all of them, and each has a key that overrides it.
    fn dropout(&mut self, raw: &RawModel, base: Dropout) -> Dropout {
        let everywhere = raw.dropout.map(|dropout| self.real("model.dropout", Some(dropout), 0.0));
        let of = |base| everywhere.unwrap_or(base);
        Dropout {
            embedding: self.real("model.embedding_dropout", raw.embedding_dropout, of(base.embedding)),
            attention: self.real("model.attention_dropout", raw.attention_dropout, of(base.attention)),
            residual: self.real("model.residual_dropout", raw.residual_dropout, of(base.residual)),
        }
    }
}

/// Joins words to `bert or vit`, or `mlp, bert or vit`.
fn alternatives(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    }
}

/// Returns the default number of features inside the feed-forward network.
///
/// It is four times `hidden`; with a gate, which means three matrices instead of two, two thirds of that, rounded up to
/// a multiple of 256 (the rule of Llama's own code).
const fn usual_intermediate(hidden: u64, activation: Activation) -> u64 {
    match activation {
        Activation::SwiGlu => (8 * hidden / 3).next_multiple_of(256),
        _ => 4 * hidden,
    }
}
