//! Recurrent language models: an embedding, LSTM or GRU layers, and a head.

/// A language model on random tokens: embedding, dropout, `nn.LSTM` or `nn.GRU`, dropout, and a linear head.
///
/// That is the model of PyTorch's example `word_language_model`, with batches first.
#[derive(Debug, Clone, PartialEq)]
pub struct Rnn {
    /// What the layers are made of.
    pub cell: RecurrentCell,
    /// Tokens of the vocabulary.
    pub vocabulary: u64,
    /// Features of an embedded token.
    pub embedding: u64,
    /// Recurrent layers.
    pub layers: u64,
    /// Features of the hidden state.
    pub hidden: u64,
    /// Probability of dropout after the embedding, between the layers, and before the head.
    pub dropout: f64,
    /// Whether the head uses the embedding's weights; `embedding` and `hidden` are equal then.
    pub tied_head: bool,
    /// What a batch begins with.
    pub carry_hidden: CarryHidden,
}

/// What the layers of an [`Rnn`] are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecurrentCell {
    /// `torch.nn.LSTM`: a hidden state and a cell state.
    Lstm,
    /// `torch.nn.GRU`: a hidden state only.
    Gru,
}

/// What the hidden state is when a batch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarryHidden {
    /// That of the batch before, without its graph: backpropagation is truncated. Evaluations begin with zeros.
    Detach,
    /// Zeros.
    None,
}

impl RecurrentCell {
    /// Matrices of a layer that read the same features: one for each gate, and one for what is remembered.
    pub const fn gates(self) -> u64 {
        match self {
            Self::Lstm => 4,
            Self::Gru => 3,
        }
    }
}
