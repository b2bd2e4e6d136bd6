//! Resolves the model of a job: a preset or a family's defaults, and the keys that override them.

use super::super::cnn::Layers;
use super::super::domain::name_of;
use super::super::model::{
    Bert, DEPTHS, FAMILIES, Family, MLP_ACTIVATIONS, Mlp, Model, RESNET_ARCHITECTURES, ResNet, ResNetDepth, Rnn,
    family_of,
};
use super::super::nearest::did_you_mean;
use super::super::problem::{Problem, excerpt};
use super::super::raw::{JOB, MODEL, RawJob, RawModel, Sizes, Table};
use super::super::transformer::{
    ACTIVATIONS, ARCHITECTURES, Activation, Dropout, ENCODER_ACTIVATIONS, Norm, Positions, Transformer,
    TransformerFamily,
};
use super::Resolver;

/// Returns the keys of the models of a family, besides `family` and `preset`.
pub(crate) fn keys_of(family: Family) -> Vec<&'static str> {
    let given = RawModel::default();
    let mut raw = Table::new(&given);
    if let Some(base) = Model::preset(usual_preset(family, TransformerFamily::Gpt2)) {
        Resolver::default().sizes(&mut raw, base, false);
    }
    raw.known
}

/// Returns the preset that has the default sizes of a family.
const fn usual_preset(family: Family, architecture: TransformerFamily) -> &'static str {
    match family {
        Family::Mlp => "mlp",
        Family::ResNet => "resnet50",
        Family::Transformer => match architecture {
            TransformerFamily::Gpt2 => "gpt2",
            TransformerFamily::Llama => "llama-2-7b",
        },
        Family::Bert => "bert-base",
        Family::Rnn => "lstm-medium",
        Family::Cnn => "alexnet",
    }
}

impl Resolver {
    pub(super) fn model(&mut self, job: &mut Table<'_, RawJob>, checkpointing: bool) -> Option<Model> {
        let Some(given) = job.given(&JOB.model) else {
            let presets = Model::presets().collect::<Vec<_>>().join(", ");
            let hint = format!("for example, write `model = \"gpt2\"`; the presets are {presets}");
            self.problem("model", "missing", hint);
            return None;
        };
        let base = self.base(given)?;
        self.check_keys(given, &base);
        let mut raw = Table::new(given);
        raw.settle(&MODEL.family, base.family().to_owned());
        let model = self.sizes(&mut raw, base, checkpointing);
        job.settle(&JOB.model, raw.settled);
        Some(model)
    }

    /// Returns a model with the sizes of a base that keys override.
    fn sizes(&mut self, raw: &mut Table<'_, RawModel>, base: Model, checkpointing: bool) -> Model {
        match base {
            Model::Mlp(base) => Model::Mlp(self.mlp(raw, &base)),
            Model::ResNet(base) => Model::ResNet(self.resnet(raw, &base)),
            Model::Transformer(base) => Model::Transformer(self.transformer(raw, &base, checkpointing)),
            Model::Bert(base) => Model::Bert(self.bert(raw, &base)),
            Model::Rnn(base) => Model::Rnn(self.rnn(raw, &base)),
            Model::Cnn(base) => Model::Cnn(self.cnn(raw, &base)),
        }
    }

    /// Returns the model whose sizes the keys override: the preset, or the default of the family.
    fn base(&mut self, raw: &RawModel) -> Option<Model> {
        let before = self.problems.len();
        let family = raw.family.as_ref().map(|family| self.choice("model.family", Some(family), Family::Mlp, FAMILIES));
        if self.problems.len() > before {
            return None;
        }
        let Some(preset) = raw.preset.as_deref() else {
            return self.usual(family, raw);
        };
        let Some(model) = Model::preset(preset) else {
            if let Some(problem) = Problem::of_scripts(MODEL.preset.path, Some(preset)) {
                self.problems.push(problem);
                return None;
            }
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
        self.choice(MODEL.architecture.path, raw.architecture.as_ref(), default, ARCHITECTURES)
    }

    fn usual(&mut self, family: Option<Family>, raw: &RawModel) -> Option<Model> {
        let Some(family) = family else {
            self.problem("model", "either `preset` or `family` is required", "for example, write preset = \"gpt2\"");
            return None;
        };
        let architecture = match family {
            Family::Transformer => self.architecture(raw, TransformerFamily::Gpt2),
            _ => TransformerFamily::Gpt2,
        };
        Model::preset(usual_preset(family, architecture))
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

    fn mlp(&mut self, raw: &mut Table<'_, RawModel>, base: &Mlp) -> Mlp {
        Mlp {
            input_features: self.number(raw, &MODEL.input, base.input_features),
            hidden_features: self.hidden_features(raw, &base.hidden_features),
            classes: self.number(raw, &MODEL.classes, base.classes),
            activation: self.word_of(raw, &MODEL.activation, MLP_ACTIVATIONS, base.activation),
            bias: raw.flag(&MODEL.bias, base.bias),
            dropout: self.number(raw, &MODEL.dropout, base.dropout),
        }
    }

    /// Returns a list of sizes, or one size repeated for `layers` layers.
    fn hidden_features(&mut self, raw: &mut Table<'_, RawModel>, base: &[u64]) -> Vec<u64> {
        let usual = base.len() as u64;
        let layers = self.number_of_layers(raw, usual);
        let has_number = raw.given.layers.is_some();
        let features = match raw.given(&MODEL.hidden) {
            Some(Sizes::Each(sizes)) => {
                if has_number && layers != sizes.len() as u64 {
                    self.problem("model.layers", "`hidden` lists a different number of layers", "remove it");
                }
                if !sizes.is_empty() {
                    self.number_within(&MODEL.layers, Some(sizes.len() as u64), usual);
                }
                sizes.iter().map(|size| self.number_within(&MODEL.hidden, Some(*size), 1)).collect()
            }
            Some(Sizes::One(size)) => vec![self.number_within(&MODEL.hidden, Some(*size), 1); layers as usize],
            None if has_number => vec![base[0]; layers as usize],
            None => base.to_vec(),
        };
        raw.settle(&MODEL.hidden, Sizes::Each(features.clone()));
        features
    }

    /// Returns the number of layers of a model whose layers are all alike.
    fn number_of_layers(&mut self, raw: &mut Table<'_, RawModel>, usual: u64) -> u64 {
        match raw.given(&MODEL.layers) {
            Some(Layers::Count(count)) => self.number_within(&MODEL.layers, Some(*count), usual),
            Some(Layers::Each(_)) => {
                let hint = "write their number, or use family = \"cnn\"";
                self.problem("model.layers", "all layers of this model are the same", hint);
                usual
            }
            None => usual,
        }
    }

    /// Settles the number of layers of a model whose layers are all alike.
    fn layer_count(&mut self, raw: &mut Table<'_, RawModel>, usual: u64) -> u64 {
        let count = self.number_of_layers(raw, usual);
        raw.settle(&MODEL.layers, Layers::Count(count));
        count
    }

    fn resnet(&mut self, raw: &mut Table<'_, RawModel>, base: &ResNet) -> ResNet {
        let depth = self.depth(raw, base.depth);
        ResNet {
            family: self.word_of(raw, &MODEL.architecture, RESNET_ARCHITECTURES, base.family),
            depth,
            classes: self.number(raw, &MODEL.classes, base.classes),
            image_size: self.number(raw, &MODEL.image_size, base.image_size),
            channels_last: raw.flag(&MODEL.channels_last, base.channels_last),
        }
    }

    fn depth(&mut self, raw: &mut Table<'_, RawModel>, base: ResNetDepth) -> ResNetDepth {
        let given = raw.given(&MODEL.depth).map(|given| (given, DEPTHS.iter().find(|(known, _)| known == given)));
        if let Some((given, None)) = given {
            let message = format!("residual networks of depth {given} are not supported");
            self.problem("model.depth", message, "write 18, 34, 50, 101 or 152");
        }
        let depth = given.and_then(|(_, known)| known).map_or(base, |(_, depth)| *depth);
        for (number, _) in DEPTHS.iter().filter(|(_, known)| *known == depth) {
            raw.settle(&MODEL.depth, *number);
        }
        depth
    }

    fn transformer(&mut self, raw: &mut Table<'_, RawModel>, base: &Transformer, checkpointing: bool) -> Transformer {
        let given = raw.given;
        raw.settle(&MODEL.architecture, name_of(ARCHITECTURES, &base.family).to_owned());
        let hidden = self.one_size(raw, base.hidden);
        let heads = self.number(raw, &MODEL.heads, base.heads);
        let resized = given.hidden.is_some() || given.heads.is_some();
        let head_dim = if resized { (hidden / heads).max(1) } else { base.head_dim };
        let kv_heads = if given.heads.is_some() { heads } else { base.kv_heads };
        let activation = self.word_of(raw, &MODEL.activation, ACTIVATIONS, base.activation);
        let intermediate =
            if given.hidden.is_some() { usual_intermediate(hidden, activation) } else { base.intermediate };
        let model = Transformer {
            family: base.family,
            vocabulary: self.number(raw, &MODEL.vocabulary, base.vocabulary),
            layers: self.layer_count(raw, base.layers),
            hidden,
            intermediate: self.number(raw, &MODEL.intermediate, intermediate),
            heads,
            kv_heads: self.number(raw, &MODEL.kv_heads, kv_heads),
            head_dim: self.number(raw, &MODEL.head_dim, head_dim),
            max_positions: self.number(raw, &MODEL.max_positions, base.max_positions),
            norm: self.norm(raw, base.norm),
            positions: self.positions(raw, base.positions),
            activation,
            qkv_bias: raw.flag(&MODEL.qkv_bias, given.attention_bias.unwrap_or(base.qkv_bias)),
            attention_bias: raw.flag(&MODEL.attention_bias, base.attention_bias),
            mlp_bias: raw.flag(&MODEL.mlp_bias, base.mlp_bias),
            tied_head: raw.flag(&MODEL.tied_head, base.tied_head),
            dropout: self.dropout(raw, base.dropout),
            attention: self.word(raw, &MODEL.attention, base.attention),
            use_cache: raw.flag(&MODEL.use_cache, base.use_cache && !checkpointing),
        };
        self.check_heads(given, &model);
        if checkpointing && model.use_cache {
            let message = "checkpointing computes layers twice, so a cache cannot be used";
            self.problem("model.use_cache", message, "remove it");
        }
        model
    }

    fn bert(&mut self, raw: &mut Table<'_, RawModel>, base: &Bert) -> Bert {
        let hidden = self.one_size(raw, base.hidden);
        let heads = self.number(raw, &MODEL.heads, base.heads);
        if !hidden.is_multiple_of(heads) {
            let message = format!("{hidden} features are not divisible by {heads} heads");
            self.problem("model.heads", message, "change `heads` or `hidden`");
        }
        let usual = if raw.given.hidden.is_some() { 4 * hidden } else { base.intermediate };
        // `dropout` sets both probabilities, and each has a key that overrides it.
        let everywhere = self.dropout_everywhere(raw);
        Bert {
            layers: self.layer_count(raw, base.layers),
            hidden,
            intermediate: self.number(raw, &MODEL.intermediate, usual),
            heads,
            norm_epsilon: self.number(raw, &MODEL.norm_epsilon, base.norm_epsilon),
            activation: self.word_of(raw, &MODEL.activation, ENCODER_ACTIVATIONS, base.activation),
            residual_dropout: self.number(raw, &MODEL.residual_dropout, everywhere.unwrap_or(base.residual_dropout)),
            attention_dropout: self.number(raw, &MODEL.attention_dropout, everywhere.unwrap_or(base.attention_dropout)),
            attention: self.word(raw, &MODEL.attention, base.attention),
            vocabulary: self.number(raw, &MODEL.vocabulary, base.vocabulary),
            max_positions: self.number(raw, &MODEL.max_positions, base.max_positions),
            token_types: self.number(raw, &MODEL.token_types, base.token_types),
        }
    }

    fn rnn(&mut self, raw: &mut Table<'_, RawModel>, base: &Rnn) -> Rnn {
        let hidden = self.one_size(raw, base.hidden);
        let usual = if raw.given.hidden.is_some() { hidden } else { base.embedding };
        let rnn = Rnn {
            cell: self.word(raw, &MODEL.cell, base.cell),
            vocabulary: self.number(raw, &MODEL.vocabulary, base.vocabulary),
            embedding: self.number(raw, &MODEL.embedding, usual),
            layers: self.layer_count(raw, base.layers),
            hidden,
            dropout: self.number(raw, &MODEL.dropout, base.dropout),
            tied_head: raw.flag(&MODEL.tied_head, base.tied_head),
            carry_hidden: self.word(raw, &MODEL.carry_hidden, base.carry_hidden),
        };
        if rnn.tied_head && rnn.embedding != rnn.hidden {
            let message = format!("a tied head needs an embedding of {hidden} features, not {}", rnn.embedding);
            self.problem("model.tied_head", message, "make `embedding` and `hidden` equal, or remove it");
        }
        rnn
    }

    /// Settles the features between layers that all have the same.
    fn one_size(&mut self, raw: &mut Table<'_, RawModel>, default: u64) -> u64 {
        let size = match raw.given(&MODEL.hidden) {
            Some(Sizes::One(size)) => self.number_within(&MODEL.hidden, Some(*size), default),
            Some(Sizes::Each(_)) => {
                self.problem("model.hidden", "all layers of this model have the same size", "write a whole number");
                default
            }
            None => default,
        };
        raw.settle(&MODEL.hidden, Sizes::One(size));
        size
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

    fn norm(&mut self, raw: &mut Table<'_, RawModel>, base: Norm) -> Norm {
        let (is_layer_norm, epsilon) = match base {
            Norm::LayerNorm(epsilon) => (true, epsilon),
            Norm::RmsNorm(epsilon) => (false, epsilon),
        };
        let epsilon = self.number(raw, &MODEL.norm_epsilon, epsilon);
        let is_layer_norm = self.word(raw, &MODEL.norm, is_layer_norm);
        if is_layer_norm { Norm::LayerNorm(epsilon) } else { Norm::RmsNorm(epsilon) }
    }

    fn positions(&mut self, raw: &mut Table<'_, RawModel>, base: Positions) -> Positions {
        let (are_learned, theta) = match base {
            Positions::Learned => (true, 10_000.0),
            Positions::Rotary(theta) => (false, theta),
        };
        let given = raw.given(&MODEL.rope_theta).copied();
        let theta = self.number_within(&MODEL.rope_theta, given, theta);
        if !self.word(raw, &MODEL.positions, are_learned) {
            raw.settle(&MODEL.rope_theta, theta);
            return Positions::Rotary(theta);
        }
        if given.is_some() {
            self.problem("model.rope_theta", "learned positions have no rope base", "remove it");
        }
        Positions::Learned
    }

    /// Returns the three probabilities: `dropout` sets all of them, and each has a key that overrides it.
    fn dropout(&mut self, raw: &mut Table<'_, RawModel>, base: Dropout) -> Dropout {
        let everywhere = self.dropout_everywhere(raw);
        let of = |base| everywhere.unwrap_or(base);
        Dropout {
            embedding: self.number(raw, &MODEL.embedding_dropout, of(base.embedding)),
            attention: self.number(raw, &MODEL.attention_dropout, of(base.attention)),
            residual: self.number(raw, &MODEL.residual_dropout, of(base.residual)),
        }
    }

    /// Returns the probability that `dropout` gives to all keys of dropout.
    fn dropout_everywhere(&mut self, raw: &mut Table<'_, RawModel>) -> Option<f64> {
        raw.given(&MODEL.dropout).map(|dropout| self.number_within(&MODEL.dropout, Some(*dropout), 0.0))
    }
}

/// Joins words to `bert or rnn`, or `mlp, bert or rnn`.
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
