//! The models that a job can train, with every size resolved.

use super::cnn::Cnn;
use super::encoder::{Bert, Vit};
use super::experts::Experts;
use super::names::{FAMILIES, name_of};
use super::recurrent::Rnn;
use super::resolve::family_of;
use super::unet::Unet;

/// A model, with every size resolved.
#[derive(Debug, Clone, PartialEq)]
pub enum Model {
    /// Linear layers with an activation between them, on random vectors.
    Mlp(Mlp),
    /// A residual network on random images, as torchvision builds it.
    ResNet(ResNet),
    /// A decoder-only language model on random tokens, as Hugging Face builds it.
    Transformer(Transformer),
    /// A masked language model on random tokens, as Hugging Face builds it.
    Bert(Bert),
    /// A vision transformer on random images, as Hugging Face builds it.
    Vit(Vit),
    /// A denoiser of random latents, as diffusers builds it.
    Unet(Unet),
    /// A recurrent language model on random tokens.
    Rnn(Rnn),
    /// A list of layers on random images.
    Cnn(Cnn),
}

impl Model {
    /// Whose keys it takes in a config, such as `transformer`.
    pub fn family(&self) -> &'static str {
        name_of(FAMILIES, &family_of(self))
    }

    /// The longest sequence that the model reads, in tokens; `None` where a job has no say in it.
    pub const fn max_positions(&self) -> Option<u64> {
        match self {
            Self::Mlp(_) | Self::ResNet(_) | Self::Unet(_) | Self::Vit(_) | Self::Cnn(_) => None,
            Self::Transformer(transformer) => Some(transformer.max_positions),
            Self::Bert(bert) => Some(bert.max_positions),
            // Nothing is learned of positions.
            Self::Rnn(_) => Some(u64::MAX),
        }
    }
}

impl Model {
    /// Whether images and weights are in `torch.channels_last`.
    pub(super) const fn is_channels_last(&self) -> bool {
        match self {
            Self::ResNet(resnet) => resnet.channels_last,
            Self::Cnn(cnn) => cnn.channels_last,
            _ => false,
        }
    }
}

/// Linear layers with an activation between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Mlp {
    /// Features of an input.
    pub input_features: u64,
    /// Features after each hidden layer, first to last.
    pub hidden_features: Vec<u64>,
    /// Classes of the cross entropy that is the loss.
    pub classes: u64,
    /// What follows each hidden layer.
    pub activation: MlpActivation,
    /// Whether the linear layers have a bias.
    pub bias: bool,
    /// Probability of dropout after each activation; 0 leaves the module out.
    pub dropout: f64,
}

/// What follows a hidden layer of an [`Mlp`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MlpActivation {
    /// `torch.nn.ReLU()`, which allocates its output.
    Relu,
    /// `torch.nn.GELU()`.
    Gelu,
    /// `torch.nn.Tanh()`.
    Tanh,
}

/// A residual network.
#[derive(Debug, Clone, PartialEq)]
pub struct ResNet {
    /// Whose implementation is followed.
    pub family: ResNetFamily,
    /// How many layers, and which block.
    pub depth: ResNetDepth,
    /// Classes of the last linear layer.
    pub classes: u64,
    /// Height and width of the images, in pixels.
    pub image_size: u64,
    /// Whether images and weights are in `torch.channels_last`.
    pub channels_last: bool,
}

/// Whose implementation of residual networks is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResNetFamily {
    /// torchvision: activations overwrite what they read.
    Torchvision,
    /// transformers: activations are new tensors, and the last features live until the loss is there.
    Transformers,
}

/// The depths of [`ResNet`] that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResNetDepth {
    /// `resnet18`.
    D18,
    /// `resnet34`.
    D34,
    /// `resnet50`.
    D50,
    /// `resnet101`.
    D101,
    /// `resnet152`.
    D152,
}

impl ResNetDepth {
    /// The blocks of each of the four stages.
    pub const fn blocks(self) -> [u64; 4] {
        match self {
            Self::D18 => [2, 2, 2, 2],
            Self::D34 | Self::D50 => [3, 4, 6, 3],
            Self::D101 => [3, 4, 23, 3],
            Self::D152 => [3, 8, 36, 3],
        }
    }

    /// Whether blocks are bottlenecks of three convolutions, rather than two of 3 × 3 pixels.
    pub const fn has_bottlenecks(self) -> bool {
        matches!(self, Self::D50 | Self::D101 | Self::D152)
    }
}

/// A decoder-only transformer.
#[derive(Debug, Clone, PartialEq)]
pub struct Transformer {
    /// Whose implementation is followed, operation by operation.
    pub family: TransformerFamily,
    /// Tokens of the vocabulary.
    pub vocabulary: u64,
    /// Decoder layers.
    pub layers: u64,
    /// Features of a token between the layers.
    pub hidden: u64,
    /// Features inside the feed-forward network.
    pub intermediate: u64,
    /// The experts in place of each feed-forward network, each of so many features.
    pub experts: Option<Experts>,
    /// Attention heads of the queries.
    pub heads: u64,
    /// Attention heads of keys and values; it divides `heads`.
    pub kv_heads: u64,
    /// Features of a head.
    pub head_dim: u64,
    /// Longest sequence that positions exist for, in tokens.
    pub max_positions: u64,
    /// How layers are normalised.
    pub norm: Norm,
    /// How a token knows its place.
    pub positions: Positions,
    /// The feed-forward network's activation; [`Activation::SwiGlu`] adds a gate.
    pub activation: Activation,
    /// Whether queries, keys and values have a bias.
    pub qkv_bias: bool,
    /// Whether attention's last linear layer has a bias.
    pub attention_bias: bool,
    /// Whether the feed-forward network's linear layers have a bias.
    pub mlp_bias: bool,
    /// Whether the head uses the token embedding's weights.
    pub tied_head: bool,
    /// Probabilities of dropout.
    pub dropout: Dropout,
    /// Which kernels compute attention.
    pub attention: Attention,
    /// Whether the forward pass fills a key-value cache, as Hugging Face's models do unless `use_cache` is off.
    pub use_cache: bool,
}

/// Whose implementation a [`Transformer`] follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransformerFamily {
    /// `GPT2LMHeadModel`: one projection for queries, keys and values, `Conv1D` layers.
    Gpt2,
    /// `LlamaForCausalLM`: separate projections, rotary positions computed at each pass.
    Llama,
}

/// How layers are normalised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Norm {
    /// `torch.nn.LayerNorm`, with its epsilon.
    LayerNorm(f64),
    /// Root mean square norm as Llama computes it, with its epsilon.
    RmsNorm(f64),
}

/// How a token knows its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Positions {
    /// An embedding that is learned.
    Learned,
    /// Rotary embeddings with this base (theta).
    Rotary(f64),
}

/// The activation of a feed-forward network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// The tanh approximation written out in eight operations, Hugging Face's `gelu_new`.
    GeluNew,
    /// `torch.nn.functional.gelu`, one operation.
    Gelu,
    /// `torch.nn.functional.gelu(approximate="tanh")`, one operation.
    GeluTanh,
    /// `torch.nn.functional.relu`.
    Relu,
    /// SiLU of a gate times a linear layer.
    SwiGlu,
}

/// Probabilities of dropout; 0 leaves the operation out where Python leaves it out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dropout {
    /// Of the embeddings' sum.
    pub embedding: f64,
    /// Of the attention probabilities.
    pub attention: f64,
    /// Of what attention and the feed-forward network add to the residual stream.
    pub residual: f64,
}

/// Which kernels compute attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// `scaled_dot_product_attention`, the backend as PyTorch picks it for the card.
    Sdpa,
    /// `scaled_dot_product_attention`, flash attention only.
    Flash,
    /// `scaled_dot_product_attention`, memory-efficient attention only.
    Efficient,
    /// `scaled_dot_product_attention`, cuDNN attention only.
    Cudnn,
    /// `scaled_dot_product_attention`, matrix products only.
    Math,
    /// Matrix products and a softmax written out in the model, Hugging Face's `eager`.
    Eager,
}
