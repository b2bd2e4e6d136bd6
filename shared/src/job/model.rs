//! Models that a job can train, with every size resolved.

use super::activation::Activation;
use super::attention::Attention;
use super::cnn::Cnn;
use super::encoder::{Bert, Vit};
use super::experts::Experts;
use super::family::{FAMILIES, Family};
use super::names::{Names, name_of};
use super::recurrent::Rnn;
use super::unet::Unet;

#[derive(Debug, Clone, PartialEq)]
pub enum Model {
    /// Linear layers with an activation between them, on random vectors.
    Mlp(Mlp),
    /// A residual network on random images, as torchvision or transformers builds it.
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
    /// Returns the family, whose keys the model has in a config, such as `transformer`.
    pub fn family(&self) -> &'static str {
        name_of(FAMILIES, &family_of(self))
    }

    /// Returns the longest sequence that the model reads, in tokens; `None` if a job can't choose the length.
    pub const fn max_positions(&self) -> Option<u64> {
        match self {
            Self::Mlp(_) | Self::ResNet(_) | Self::Unet(_) | Self::Vit(_) | Self::Cnn(_) => None,
            Self::Transformer(transformer) => Some(transformer.max_positions),
            Self::Bert(bert) => Some(bert.max_positions),
            // Recurrent layers have no position embeddings.
            Self::Rnn(_) => Some(u64::MAX),
        }
    }
}

impl Model {
    /// Returns true if images and weights are in `torch.channels_last`.
    pub(super) const fn is_channels_last(&self) -> bool {
        match self {
            Self::ResNet(resnet) => resnet.channels_last,
            Self::Cnn(cnn) => cnn.channels_last,
            _ => false,
        }
    }
}

pub(super) const fn family_of(model: &Model) -> Family {
    match model {
        Model::Mlp(_) => Family::Mlp,
        Model::ResNet(_) => Family::ResNet,
        Model::Transformer(_) => Family::Transformer,
        Model::Bert(_) => Family::Bert,
        Model::Vit(_) => Family::Vit,
        Model::Unet(_) => Family::Unet,
        Model::Rnn(_) => Family::Rnn,
        Model::Cnn(_) => Family::Cnn,
    }
}

/// Linear layers with an activation between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Mlp {
    /// Features of an input vector.
    pub input_features: u64,
    /// Features after each hidden layer, first to last.
    pub hidden_features: Vec<u64>,
    /// Number of classes in the cross-entropy loss.
    pub classes: u64,
    /// Activation after each hidden layer.
    pub activation: MlpActivation,
    /// True if the linear layers have a bias.
    pub bias: bool,
    /// Probability of dropout after each activation; 0 leaves the module out.
    pub dropout: f64,
}

/// Activation after a hidden layer of an [`Mlp`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MlpActivation {
    /// `torch.nn.ReLU()`, which allocates its output.
    Relu,
    /// `torch.nn.GELU()`.
    Gelu,
    /// `torch.nn.Tanh()`.
    Tanh,
}

pub(super) const MLP_ACTIVATIONS: Names<MlpActivation> =
    &[("relu", MlpActivation::Relu), ("gelu", MlpActivation::Gelu), ("tanh", MlpActivation::Tanh)];

#[derive(Debug, Clone, PartialEq)]
pub struct ResNet {
    /// Implementation that is followed.
    pub family: ResNetFamily,
    /// Number of layers, which decides the kind of block too.
    pub depth: ResNetDepth,
    /// Number of classes, which are the outputs of the last linear layer.
    pub classes: u64,
    /// Height and width of the images, in pixels.
    pub image_size: u64,
    /// True if images and weights are in `torch.channels_last`.
    pub channels_last: bool,
}

/// Implementation of residual networks that is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResNetFamily {
    /// torchvision: activations work in place.
    Torchvision,
    /// transformers: activations are new tensors, and the last features live until the loss is computed.
    Transformers,
}

pub(super) const RESNET_ARCHITECTURES: Names<ResNetFamily> =
    &[("torchvision", ResNetFamily::Torchvision), ("transformers", ResNetFamily::Transformers)];

/// Supported depths of a [`ResNet`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResNetDepth {
    D18,
    D34,
    D50,
    D101,
    D152,
}

/// Depths of residual networks.
pub(super) const DEPTHS: [(u64, ResNetDepth); 5] = [
    (18, ResNetDepth::D18),
    (34, ResNetDepth::D34),
    (50, ResNetDepth::D50),
    (101, ResNetDepth::D101),
    (152, ResNetDepth::D152),
];

impl ResNetDepth {
    /// Returns the number of blocks in each of the four stages.
    pub const fn blocks(self) -> [u64; 4] {
        match self {
            Self::D18 => [2, 2, 2, 2],
            Self::D34 | Self::D50 => [3, 4, 6, 3],
            Self::D101 => [3, 4, 23, 3],
            Self::D152 => [3, 8, 36, 3],
        }
    }

    /// Returns true if blocks are bottlenecks of three convolutions, rather than two convolutions of 3 × 3 pixels.
    pub const fn has_bottlenecks(self) -> bool {
        matches!(self, Self::D50 | Self::D101 | Self::D152)
    }
}

/// A decoder-only transformer.
#[derive(Debug, Clone, PartialEq)]
pub struct Transformer {
    /// Implementation that is followed, operation by operation.
    pub family: TransformerFamily,
    /// Number of tokens in the vocabulary.
    pub vocabulary: u64,
    /// Number of decoder layers.
    pub layers: u64,
    /// Features of a token between the layers.
    pub hidden: u64,
    /// Features inside the feed-forward network.
    pub intermediate: u64,
    /// Experts in place of each feed-forward network, each with `intermediate` features.
    pub experts: Option<Experts>,
    /// Attention heads of the queries.
    pub heads: u64,
    /// Attention heads of keys and values. Invariant: divides `heads`.
    pub kv_heads: u64,
    pub head_dim: u64,
    /// Longest sequence that the model has positions for, in tokens.
    pub max_positions: u64,
    /// Norm before attention, before the feed-forward network and after the last layer.
    pub norm: Norm,
    /// Position embedding.
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

/// Implementation that a [`Transformer`] follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransformerFamily {
    /// `GPT2LMHeadModel`: one projection for queries, keys and values, and `Conv1D` layers.
    Gpt2,
    /// `LlamaForCausalLM`: separate projections, and rotary positions that each pass computes.
    Llama,
}

pub(super) const ARCHITECTURES: Names<TransformerFamily> =
    &[("gpt2", TransformerFamily::Gpt2), ("llama", TransformerFamily::Llama)];

/// Norm of a [`Transformer`].
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
    /// For the sum of the embeddings.
    pub embedding: f64,
    /// For the attention probabilities.
    pub attention: f64,
    /// For the outputs of attention and of the feed-forward network, before they are added to the residual stream.
    pub residual: f64,
}
