//! Models that a job can train, with every size resolved.

use super::cnn::Cnn;
use super::domain::name_of;
use super::transformer::{Activation, Attention, Transformer};

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
            Self::Mlp(_) | Self::ResNet(_) | Self::Cnn(_) => None,
            Self::Transformer(transformer) => Some(transformer.max_positions),
            Self::Bert(bert) => Some(bert.max_positions),
            // Recurrent layers have no position embeddings.
            Self::Rnn(_) => Some(u64::MAX),
        }
    }

    /// Returns the implementation of attention, if the model has attention.
    pub(super) const fn attention(&self) -> Option<Attention> {
        match self {
            Self::Transformer(transformer) => Some(transformer.attention),
            Self::Bert(bert) => Some(bert.attention),
            Self::Mlp(_) | Self::ResNet(_) | Self::Rnn(_) | Self::Cnn(_) => None,
        }
    }

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
        Model::Rnn(_) => Family::Rnn,
        Model::Cnn(_) => Family::Cnn,
    }
}

words! {
    /// Families of models: those of a family have the same keys in a config.
    pub(super) enum Family in FAMILIES {
        Mlp = "mlp",
        ResNet = "resnet",
        Transformer = "transformer",
        Bert = "bert",
        Rnn = "rnn",
        Cnn = "cnn",
    }

    /// Activation after a hidden layer of an [`Mlp`].
    pub enum MlpActivation in MLP_ACTIVATIONS {
        /// `torch.nn.ReLU()`, which allocates its output.
        Relu = "relu",
        /// `torch.nn.GELU()`.
        Gelu = "gelu",
        /// `torch.nn.Tanh()`.
        Tanh = "tanh",
    }

    /// Implementation of residual networks that is followed.
    pub enum ResNetFamily in RESNET_ARCHITECTURES {
        /// torchvision: activations work in place.
        Torchvision = "torchvision",
        /// transformers: activations are new tensors, and the last features live until the loss is computed.
        Transformers = "transformers",
    }

    /// Cell of the layers of an [`Rnn`].
    pub enum RecurrentCell in CELLS {
        /// `torch.nn.LSTM`: a hidden state and a cell state.
        Lstm = "lstm",
        /// `torch.nn.GRU`: a hidden state only.
        Gru = "gru",
    }

    /// Hidden state at the beginning of a batch.
    pub enum CarryHidden in CARRIES {
        /// The state of the previous batch, detached from its graph: backpropagation is truncated.
        ///
        /// Evaluations begin with zeros.
        Detach = "detach",
        /// Zeros.
        None = "none",
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

/// A masked language model on random tokens, in which every token attends to all others: Hugging Face's
/// `BertForMaskedLM`, with a tied head.
#[derive(Debug, Clone, PartialEq)]
pub struct Bert {
    /// Number of tokens in the vocabulary.
    pub vocabulary: u64,
    pub layers: u64,
    /// Features of a token between the layers; a multiple of `heads`.
    pub hidden: u64,
    /// Features inside the feed-forward network.
    pub intermediate: u64,
    pub heads: u64,
    /// Longest sequence that the model has positions for, in tokens.
    pub max_positions: u64,
    /// Number of token types, such as first and second sentence.
    pub token_types: u64,
    pub norm_epsilon: f64,
    /// Activation of the feed-forward network; never one with a gate.
    pub activation: Activation,
    /// Dropout probability of the sum of the embeddings and of what is added to the residual stream.
    pub residual_dropout: f64,
    /// Dropout probability of the attention probabilities.
    pub attention_dropout: f64,
    pub attention: Attention,
}

impl Bert {
    pub const fn head_dim(&self) -> u64 {
        self.hidden / self.heads
    }
}

/// A language model on random tokens: embedding, dropout, `nn.LSTM` or `nn.GRU`, dropout, and a linear head.
///
/// This is the model of PyTorch's example `word_language_model`, with the batch as the first dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Rnn {
    pub cell: RecurrentCell,
    /// Number of tokens in the vocabulary.
    pub vocabulary: u64,
    /// Features of an embedded token.
    pub embedding: u64,
    pub layers: u64,
    /// Features of the hidden state.
    pub hidden: u64,
    /// Dropout probability after the embedding, between the layers, and before the head.
    pub dropout: f64,
    /// True if the head uses the weights of the embedding. Invariant: then `embedding` equals `hidden`.
    pub tied_head: bool,
    /// Hidden state at the beginning of a batch.
    pub carry_hidden: CarryHidden,
}

impl RecurrentCell {
    /// Returns the number of matrices that read the same features: one for each gate, and one for the candidate state.
    pub const fn gates(self) -> u64 {
        match self {
            Self::Lstm => 4,
            Self::Gru => 3,
        }
    }
}
