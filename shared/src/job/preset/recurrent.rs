//! Recurrent models whose sizes are public.

use super::super::model::Model;
use super::super::recurrent::{CarryHidden, RecurrentCell, Rnn};

/// As Zaremba et al., "Recurrent Neural Network Regularization", have it for the Penn Treebank.
pub(super) fn lstm(hidden: u64, dropout: f64) -> Model {
    Model::Rnn(Rnn {
        cell: RecurrentCell::Lstm,
        vocabulary: 10_000,
        embedding: hidden,
        layers: 2,
        hidden,
        dropout,
        tied_head: false,
        carry_hidden: CarryHidden::Detach,
    })
}
