//! The training config as a person writes it: every key may be missing, and nothing is checked but types.
//!
//! `README.md` beside this file is the reference of the keys; a test holds the two together.

use serde::Serialize;

use super::cnn::Layers;
use super::document::{Format, KeyPlaces, Value};
use super::experts::RawRouting;
use super::problem::Problem;
use super::reader::{FromValue, Reader};
use super::sweep::Values;

/// Declares a table of a config: one optional field a key, and how it is read.
///
/// With derived code a wrong key would end the reading; here all wrong keys are found at once, each with its path.
macro_rules! raw_table {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $key:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize)]
        pub struct $name {
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $key: Option<$type>,)*
        }

        impl $name {
            /// The keys that the table can have, in the order of the reference.
            pub const KEYS: &[&str] = &[$(stringify!($key)),*];

            fn read(entries: &[(String, Value)], reader: &mut Reader<'_>) -> Self {
                let mut raw = Self::default();
                for (key, value) in entries {
                    match key.as_str() {
                        $(stringify!($key) => raw.$key = reader.value(key, value),)*
                        _ => reader.unknown(key, Self::KEYS),
                    }
                }
                raw
            }

            /// The keys that are written, in the order of the reference.
            pub fn keys_set(&self) -> impl Iterator<Item = &'static str> {
                [$((stringify!($key), self.$key.is_some())),*].into_iter().filter(|(_, set)| *set).map(|(key, _)| key)
            }
        }
    };
}

raw_table! {
    /// A training config as it is written.
    RawJob {
        /// What a person calls it.
        name: String,
        /// The model: a preset's name, or a table.
        model: RawModel,
        /// Samples of a micro batch.
        batch: u64,
        /// Tokens of a sample.
        sequence: u64,
        /// Optimizer steps.
        steps: u64,
        /// Micro batches of a step.
        accumulation: u64,
        /// Number formats: `fp32`, `tf32`, `bf16`, `autocast-bf16` or `autocast-fp16`.
        precision: String,
        /// Whether a `GradScaler` scales the loss.
        grad_scaler: bool,
        /// The optimizer: its kind, or a table.
        optimizer: RawOptimizer,
        /// Whether activations are computed again in backward, or those of which layers.
        checkpointing: RawCheckpointing,
        /// Whether what backward needs waits in host memory.
        offload_activations: bool,
        /// How the loss is computed.
        loss: RawLoss,
        /// Adapters that are trained in the model's place.
        lora: RawLora,
        /// The greatest norm of all gradients together.
        clip_grad_norm: f64,
        /// Whether the model's outputs live until the step ends.
        keep_outputs: bool,
        /// Whether gradients are freed after a step.
        set_to_none: bool,
        /// What feeds the training.
        data: RawData,
        /// Passes without training between the steps.
        evaluation: RawEvaluation,
        /// What the script does and had better not.
        mistakes: Vec<String>,
        /// The text of `PYTORCH_CUDA_ALLOC_CONF`.
        allocator: String,
        /// The share of the card's memory that PyTorch may take.
        memory_fraction: f64,
        /// Several devices at once.
        parallel: RawParallel,
        /// Virtual cards: `h100-80gb`, `4x t4-16gb`, `custom:48GiB`.
        card: String,
        /// A real GPU: `cuda:0`.
        device: String,
        /// Ranges, each combination of which is recorded.
        sweep: RawSweep,
    }
}

raw_table! {
    /// The model of a [`RawJob`].
    RawModel {
        /// A model whose sizes are known; further keys override them.
        preset: String,
        /// `mlp`, `resnet`, `transformer`, `bert`, `unet`, `vit` or `rnn`.
        family: String,
        /// Whose transformer: `gpt2` or `llama`.
        architecture: String,
        /// What recurrent layers are made of: `lstm` or `gru`.
        cell: String,
        /// Features of an input.
        input: u64,
        /// Features between layers; of each hidden layer for an `mlp`.
        hidden: Sizes,
        /// How many layers, or each of them.
        layers: Layers,
        /// Classes of the output.
        classes: u64,
        /// Layers of a residual network.
        depth: u64,
        /// Height and width of the images.
        image_size: u64,
        /// Height and width of a patch.
        patch_size: u64,
        /// Whether images and weights are in `channels_last`.
        channels_last: bool,
        /// Channels of each level.
        channels: Sizes,
        /// Features of a text token.
        cross_attention_dim: u64,
        /// Tokens of a text.
        text_tokens: u64,
        /// Tokens of the vocabulary.
        vocabulary: u64,
        /// Features of an embedded token, where the layers have others.
        embedding: u64,
        /// Features inside the feed-forward network.
        intermediate: u64,
        /// Feed-forward networks of a layer, of which each token takes a few.
        experts: u64,
        /// Experts that compute a token.
        experts_per_token: u64,
        /// `grouped_mm` or `eager`.
        experts_implementation: String,
        /// Which tokens go to which expert: `even`, or shares.
        routing: RawRouting,
        /// Attention heads of the queries.
        heads: u64,
        /// Attention heads of keys and values.
        kv_heads: u64,
        /// Features of a head.
        head_dim: u64,
        /// Longest sequence that positions exist for.
        max_positions: u64,
        /// Kinds of tokens.
        token_types: u64,
        /// `layer_norm` or `rms_norm`.
        norm: String,
        /// What keeps a norm's division finite.
        norm_epsilon: f64,
        /// `learned` or `rotary`.
        positions: String,
        /// The base of rotary positions.
        rope_theta: f64,
        /// The function between linear layers.
        activation: String,
        /// Whether an `mlp`'s linear layers have a bias.
        bias: bool,
        /// Whether attention's linear layers have a bias.
        attention_bias: bool,
        /// Whether queries, keys and values have a bias.
        qkv_bias: bool,
        /// Whether the feed-forward network's linear layers have a bias.
        mlp_bias: bool,
        /// Whether the head uses the token embedding's weights.
        tied_head: bool,
        /// Probability of dropout, everywhere.
        dropout: f64,
        /// Probability of dropout after the embeddings.
        embedding_dropout: f64,
        /// Probability of dropout of attention probabilities.
        attention_dropout: f64,
        /// Probability of dropout of what is added to the residual stream.
        residual_dropout: f64,
        /// What the hidden state is when a batch begins: `detach` or `none`.
        carry_hidden: String,
        /// Which kernels compute attention.
        attention: String,
        /// Whether the forward pass fills a key-value cache.
        use_cache: bool,
    }
}

raw_table! {
    /// The optimizer of a [`RawJob`].
    RawOptimizer {
        /// `sgd`, `adam` or `adamw`.
        kind: String,
        /// `foreach`, `fused` or `for-loop`.
        implementation: String,
        /// Learning rate.
        learning_rate: f64,
        /// Weight decay.
        weight_decay: f64,
        /// The factor of SGD's momentum.
        momentum: f64,
        /// Whether SGD's momentum is Nesterov's.
        nesterov: bool,
        /// The factors of Adam's running averages.
        betas: Betas,
        /// What keeps Adam's division finite.
        epsilon: f64,
        /// The state's numbers: `full` or `8bit`.
        state: String,
        /// Whether state and step are the host's.
        offload: bool,
        /// Whether gradients are freed once the host has them.
        offload_gradients: bool,
    }
}

raw_table! {
    /// The layers that a [`RawJob`] checkpoints.
    RawSelected {
        /// Every so many layers.
        every: u64,
        /// What is kept nevertheless: `nothing`, `attention` or `matmul`.
        keep: String,
    }
}

raw_table! {
    /// The loss of a [`RawJob`].
    RawLoss {
        /// Parts that the sequence is cut into.
        chunks: u64,
    }
}

raw_table! {
    /// The adapters of a [`RawJob`].
    RawLora {
        /// Features between an adapter's two matrices.
        rank: u64,
        /// What is added is multiplied by this over the rank.
        alpha: f64,
        /// Probability of dropout of what the adapters read.
        dropout: f64,
        /// The linear layers that have adapters.
        targets: Vec<String>,
    }
}

raw_table! {
    /// What feeds the training of a [`RawJob`].
    RawData {
        /// How lengths vary: `fixed`, `uniform` or `long-tailed`.
        lengths: String,
        /// The shortest length.
        shortest: u64,
        /// How numbers of samples vary: `fixed`, `uniform` or `long-tailed`.
        batches: String,
        /// The fewest samples.
        smallest: u64,
        /// What random sizes begin with.
        seed: u64,
        /// Whether the largest batch is the first.
        longest_first: bool,
        /// What lengths are multiples of.
        pad_to_multiple_of: u64,
        /// Samples of the data set.
        samples: u64,
        /// Whether a last batch with fewer samples is left out.
        drop_last: bool,
        /// Batches that are brought to the device ahead.
        prefetch: u64,
        /// Whether batches in host memory are pinned.
        pin_memory: bool,
        /// Whether batches are copied into tensors that stay.
        reuse_buffer: bool,
        /// Where the colours of images become numbers around 0.
        normalize: String,
    }
}

raw_table! {
    /// The evaluation of a [`RawJob`].
    RawEvaluation {
        /// After every so many steps.
        every: u64,
        /// Batches of one evaluation.
        batches: u64,
        /// Samples of a batch.
        batch: u64,
        /// Whether it runs under `torch.no_grad()`.
        no_grad: bool,
    }
}

raw_table! {
    /// The several devices of a [`RawJob`].
    RawParallel {
        /// `data_parallel`, `ddp`, `zero1`, `fsdp`, `tensor` or `pipeline`.
        kind: String,
        /// How many in one process.
        devices: u64,
        /// What comes together on the first device: `outputs` or `losses`.
        gather: String,
        /// How many processes.
        ranks: u64,
        /// Which process.
        rank: u64,
        /// The most gradients of a bucket, in MiB.
        bucket_mb: u64,
        /// Whether gradients are views of their buckets.
        gradient_as_bucket_view: bool,
        /// Whether every step uses the same parameters.
        static_graph: bool,
        /// Whether each forward pass looks for parameters without use.
        find_unused_parameters: bool,
        /// Whether the weights of each process are views of one tensor.
        parameters_as_bucket_view: bool,
        /// Whether sharded parameters are freed between forward and backward.
        reshard_after_forward: bool,
        /// Whether sharded parameters are gathered in bfloat16.
        mixed_precision: bool,
        /// Whether a process of `tensor` has its part of the tokens only.
        sequence_parallel: bool,
        /// Parts of a batch that go through a pipeline.
        micro_batches: u64,
        /// In which order they do: `gpipe` or `1f1b`.
        schedule: String,
    }
}

raw_table! {
    /// The ranges of a [`RawJob`].
    RawSweep {
        /// Virtual cards.
        card: Values<String>,
        /// Number formats.
        precision: Values<String>,
        /// Whether activations are computed again in backward.
        checkpointing: Values<bool>,
        /// Tokens of a sample.
        sequence: Values<u64>,
        /// Samples of a micro batch.
        batch: Values<u64>,
    }
}

/// Whether layers are checkpointed, or which of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RawCheckpointing {
    /// All or none.
    All(bool),
    /// Some of them, or in part.
    Selected(RawSelected),
}

impl RawCheckpointing {
    /// Whether any layer is checkpointed.
    pub fn is_on(&self) -> bool {
        *self != Self::All(false)
    }
}

/// One size, or one for each layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Sizes {
    /// The same for all.
    One(u64),
    /// First to last.
    Each(Vec<u64>),
}

/// The two factors of Adam's running averages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Betas(pub f64, pub f64);

impl RawJob {
    /// Reads a config.
    ///
    /// # Errors
    ///
    /// The text is not of the format, or keys are unknown or of the wrong type: all of them at once.
    pub fn parse(text: &str, format: Format) -> Result<Self, Vec<Problem>> {
        let value = Value::parse(text, format).map_err(|problem| vec![problem])?;
        Self::from_value(&value).map_err(|problems| KeyPlaces::of(text, format).locate(problems))
    }

    /// Reads a config in TOML; see [`RawJob::parse`].
    ///
    /// # Errors
    ///
    /// As [`RawJob::parse`].
    pub fn from_toml(text: &str) -> Result<Self, Vec<Problem>> {
        Self::parse(text, Format::Toml)
    }

    /// Reads a config in YAML; see [`RawJob::parse`].
    ///
    /// # Errors
    ///
    /// As [`RawJob::parse`].
    pub fn from_yaml(text: &str) -> Result<Self, Vec<Problem>> {
        Self::parse(text, Format::Yaml)
    }

    /// Reads a config in JSON; see [`RawJob::parse`].
    ///
    /// # Errors
    ///
    /// As [`RawJob::parse`].
    pub fn from_json(text: &str) -> Result<Self, Vec<Problem>> {
        Self::parse(text, Format::Json)
    }

    pub(super) fn from_value(value: &Value) -> Result<Self, Vec<Problem>> {
        let Value::Table(entries) = value else {
            let message = format!("a config is a table of keys, not {}", value.describe());
            return Err(vec![Problem::in_text(None, message, "write for example `model = \"gpt2\"`")]);
        };
        let mut problems = Vec::new();
        let raw = Self::read(entries, &mut Reader::new(&mut problems));
        if problems.is_empty() { Ok(raw) } else { Err(problems) }
    }

    /// The config as a JSON document that [`RawJob::from_json`] reads.
    ///
    /// # Panics
    ///
    /// Never: the fields are numbers, texts and lists of them.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain fields")
    }
}

impl FromValue for RawModel {
    const EXPECTED: &str = "a preset's name or a table";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Text(preset) => Some(Self { preset: Some(preset.clone()), ..Self::default() }),
            Value::Table(entries) => Some(Self::read(entries, reader)),
            _ => None,
        }
    }
}

impl FromValue for RawOptimizer {
    const EXPECTED: &str = "`sgd`, `adam`, `adamw` or a table";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Text(kind) => Some(Self { kind: Some(kind.clone()), ..Self::default() }),
            Value::Table(entries) => Some(Self::read(entries, reader)),
            _ => None,
        }
    }
}

impl FromValue for RawCheckpointing {
    const EXPECTED: &str = "true, false or a table such as { every = 2 }";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Bool(is_on) => Some(Self::All(*is_on)),
            Value::Table(entries) => Some(Self::Selected(RawSelected::read(entries, reader))),
            _ => None,
        }
    }
}

impl FromValue for RawLoss {
    const EXPECTED: &str = "a table such as { chunks = 8 }";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Table(entries) => Some(Self::read(entries, reader)),
            _ => None,
        }
    }
}

impl FromValue for RawLora {
    const EXPECTED: &str = "a table such as { rank = 16 }";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Table(entries) => Some(Self::read(entries, reader)),
            _ => None,
        }
    }
}

impl FromValue for RawData {
    const EXPECTED: &str = "a table such as { lengths = \"uniform\" }";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Table(entries) => Some(Self::read(entries, reader)),
            _ => None,
        }
    }
}

impl FromValue for RawEvaluation {
    const EXPECTED: &str = "a table such as { every = 1 }";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Table(entries) => Some(Self::read(entries, reader)),
            _ => None,
        }
    }
}

impl FromValue for RawParallel {
    const EXPECTED: &str = "a table such as { kind = \"data_parallel\" }";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Table(entries) => Some(Self::read(entries, reader)),
            _ => None,
        }
    }
}

impl FromValue for RawSweep {
    const EXPECTED: &str = "a table such as { batch = \"1..8x2\" }";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::Table(entries) => Some(Self::read(entries, reader)),
            _ => None,
        }
    }
}

impl FromValue for Sizes {
    const EXPECTED: &str = "a whole number or a list of them";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::List(items) => {
                items.iter().map(|item| u64::from_value(item, reader)).collect::<Option<_>>().map(Self::Each)
            }
            one => u64::from_value(one, reader).map(Self::One),
        }
    }
}

impl FromValue for Betas {
    const EXPECTED: &str = "a list of two numbers";

    fn from_value(value: &Value, reader: &mut Reader<'_>) -> Option<Self> {
        match value {
            Value::List(items) if items.len() == 2 => {
                Some(Self(f64::from_value(&items[0], reader)?, f64::from_value(&items[1], reader)?))
            }
            _ => None,
        }
    }
}
