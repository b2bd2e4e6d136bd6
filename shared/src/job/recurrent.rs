//! Recurrent language models: an embedding, LSTM or GRU layers, and a head.

use super::names::Names;

/// A language model on random tokens: embedding, dropout, `nn.LSTM` or `nn.GRU`, dropout, and a linear head.
///
/// This is the model of PyTorch's example `word_language_model`, with the batch as the first dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Rnn {
    /// Cell of the layers.
    pub cell: RecurrentCell,
    /// Number of tokens in the vocabulary.
    pub vocabulary: u64,
    /// Features of an embedded token.
    pub embedding: u64,
    /// Number of recurrent layers.
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

/// Cell of the layers of an [`Rnn`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecurrentCell {
    /// `torch.nn.LSTM`: a hidden state and a cell state.
    Lstm,
    /// `torch.nn.GRU`: a hidden state only.
    Gru,
}

/// Hidden state at the beginning of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarryHidden {
    /// The state of the previous batch, detached from its graph: backpropagation is truncated.
    ///
    /// Evaluations begin with zeros.
    Detach,
    /// Zeros.
    None,
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

pub(super) const CELLS: Names<RecurrentCell> = &[("lstm", RecurrentCell::Lstm), ("gru", RecurrentCell::Gru)];

pub(super) const CARRIES: Names<CarryHidden> = &[("detach", CarryHidden::Detach), ("none", CarryHidden::None)];
