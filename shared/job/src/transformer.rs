//! Decoder-only transformers, and the parts that encoders share with them.

use super::domain::Names;

/// A decoder-only transformer.
#[derive(Debug, Clone, PartialEq)]
pub struct Transformer {
    /// Implementation that is followed, operation by operation.
    pub family: TransformerFamily,
    /// Number of tokens in the vocabulary.
    pub vocabulary: u64,
    pub layers: u64,
    /// Features of a token between the layers.
    pub hidden: u64,
    /// Features inside the feed-forward network.
    pub intermediate: u64,
    /// Attention heads of the queries.
    pub heads: u64,
    /// Attention heads of keys and values. Invariant: divides `heads`.
    pub kv_heads: u64,
    pub head_dim: u64,
    /// Longest sequence that the model has positions for, in tokens.
    pub max_positions: u64,
    /// Norm before attention, before the feed-forward network and after the last layer.
    pub norm: Norm,
    pub positions: Positions,
    /// Activation of the feed-forward network; [`Activation::SwiGlu`] adds a gate.
    pub activation: Activation,
    /// True if queries, keys and values have a bias.
    pub qkv_bias: bool,
    /// True if the last linear layer of attention has a bias.
    pub attention_bias: bool,
    /// True if the linear layers of the feed-forward network have a bias.
    pub mlp_bias: bool,
    /// True if the head uses the weights of the token embedding.
    pub tied_head: bool,
    pub dropout: Dropout,
    pub attention: Attention,
    /// True if the forward pass fills a key-value cache, as Hugging Face's models do unless `use_cache` is off.
    pub use_cache: bool,
}

words! {
    /// Implementation that a [`Transformer`] follows.
    pub enum TransformerFamily in ARCHITECTURES {
        /// `GPT2LMHeadModel`: one projection for queries, keys and values, and `Conv1D` layers.
        Gpt2 = "gpt2",
        /// `LlamaForCausalLM`: separate projections, and rotary positions that each pass computes.
        Llama = "llama",
    }

    /// Activation of a feed-forward network.
    pub enum Activation in ACTIVATIONS {
        /// Tanh approximation of GELU written out in eight operations, `gelu_new` in Hugging Face.
        GeluNew = "gelu_new",
        /// `torch.nn.functional.gelu`, one operation.
        Gelu = "gelu",
        /// `torch.nn.functional.gelu(approximate="tanh")`, one operation.
        GeluTanh = "gelu_tanh",
        /// `torch.nn.functional.relu`.
        Relu = "relu",
        /// SiLU of a gate times a linear layer.
        SwiGlu = "swiglu",
    }

    pub enum Attention in ATTENTIONS {
        /// `scaled_dot_product_attention` with the backend that PyTorch picks for the card.
        Sdpa = "sdpa",
        /// `scaled_dot_product_attention` with flash attention only.
        Flash = "flash",
        /// `scaled_dot_product_attention` with memory-efficient attention only.
        Efficient = "efficient",
        /// `scaled_dot_product_attention` with cuDNN attention only.
        Cudnn = "cudnn",
        /// `scaled_dot_product_attention` with matrix products only.
        Math = "math",
        /// Matrix products and a softmax written out in the model, `eager` in Hugging Face.
        Eager = "eager",
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Norm {
    /// `torch.nn.LayerNorm`, with its epsilon.
    LayerNorm(f64),
    /// Root mean square norm as Llama computes it, with its epsilon.
    RmsNorm(f64),
}

/// Names of the norms: true for one that subtracts the mean, as layer norm does.
pub(super) const NORMS: Names<bool> = &[("layer_norm", true), ("rms_norm", false)];

/// Position embedding of a [`Transformer`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Positions {
    /// A learned embedding.
    Learned,
    /// Rotary embeddings with this base (theta).
    Rotary(f64),
}

/// Names of the position embeddings: true for learned ones.
pub(super) const POSITIONS: Names<bool> = &[("learned", true), ("rotary", false)];

/// Dropout probabilities; with 0 the operation is left out where the Python code leaves it out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dropout {
    pub embedding: f64,
    /// For the attention probabilities.
    pub attention: f64,
    /// For the outputs of attention and of the feed-forward network, before they are added to the residual stream.
    pub residual: f64,
}

/// Activations of `bert` models, which have no gate.
pub(super) const ENCODER_ACTIVATIONS: Names<Activation> = &[
    ("gelu", Activation::Gelu),
    ("gelu_new", Activation::GeluNew),
    ("gelu_tanh", Activation::GeluTanh),
    ("relu", Activation::Relu),
];
