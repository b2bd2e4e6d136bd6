//! LoRA: the model is frozen, and two small matrices beside some of its linear layers are trained.
//!
//! Source: Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models"; keys and defaults are those of peft's
//! `LoraConfig`.

use super::domain::name_of;
use super::transformer::{Activation, Transformer, TransformerFamily};

/// LoRA adapters of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Lora {
    /// Features between the two matrices.
    pub rank: u64,
    /// The output of an adapter is multiplied by `alpha / rank`.
    pub alpha: f64,
    /// Dropout probability of the input of the adapters.
    pub dropout: f64,
    /// Linear layers that have adapters, each once.
    pub targets: Vec<LoraTarget>,
}

words! {
    /// A linear layer inside a transformer layer; the modules of a recording have the same names.
    pub enum LoraTarget in TARGETS {
        Query = "q",
        Key = "k",
        Value = "v",
        /// Queries, keys and values in one layer, as in GPT-2.
        Joined = "qkv",
        /// Output projection of attention.
        Out = "out",
        /// Gate of the feed-forward network.
        Gate = "gate",
        /// First layer of the feed-forward network, to its inner features.
        Up = "up",
        /// Last layer of the feed-forward network, back from its inner features.
        Down = "down",
    }
}

impl Lora {
    /// Returns true if the linear layer of this module, such as `layers.3.attention.q`, has an adapter.
    pub fn adapts(&self, module: &str) -> bool {
        let name = module.rsplit('.').next().unwrap_or(module);
        self.targets.iter().any(|target| target.name() == name)
    }

    /// Returns the number of parameters of all adapters of a model.
    pub(super) fn parameters(&self, model: &Transformer) -> u128 {
        let of_target = |target: &LoraTarget| {
            let [inputs, outputs] = target.features(model);
            u128::from(self.rank) * (u128::from(inputs) + u128::from(outputs))
        };
        u128::from(model.layers) * self.targets.iter().map(of_target).sum::<u128>()
    }
}

impl LoraTarget {
    /// Returns the name in configs and modules, such as `q`.
    pub fn name(self) -> &'static str {
        name_of(TARGETS, &self)
    }

    /// Returns the layers that a model has, in the order of the reference.
    pub(super) fn of(model: &Transformer) -> impl Iterator<Item = Self> {
        let joined = model.family == TransformerFamily::Gpt2;
        let gated = model.activation == Activation::SwiGlu;
        TARGETS.iter().map(|(_, target)| *target).filter(move |target| match target {
            Self::Query | Self::Key | Self::Value => !joined,
            Self::Joined => joined,
            Self::Gate => gated,
            Self::Out | Self::Up | Self::Down => true,
        })
    }

    /// Returns peft's default targets (`TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING`).
    pub(super) fn usual(model: &Transformer) -> Vec<Self> {
        match model.family {
            TransformerFamily::Gpt2 => vec![Self::Joined],
            TransformerFamily::Llama => vec![Self::Query, Self::Value],
        }
    }

    /// Returns the number of input and output features.
    const fn features(self, model: &Transformer) -> [u64; 2] {
        let (hidden, inner) = (model.hidden, model.intermediate);
        let queries = model.heads * model.head_dim;
        let keys = model.kv_heads * model.head_dim;
        match self {
            Self::Query => [hidden, queries],
            Self::Key | Self::Value => [hidden, keys],
            Self::Joined => [hidden, queries + 2 * keys],
            Self::Out => [queries, hidden],
            Self::Gate | Self::Up => [hidden, inner],
            Self::Down => [inner, hidden],
        }
    }
}
