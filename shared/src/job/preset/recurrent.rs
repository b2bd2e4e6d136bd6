//! Recurrent models with published sizes.

use super::super::model::Model;
use super::super::recurrent::{CarryHidden, RecurrentCell, Rnn};

/// Returns the model for the Penn Treebank of Zaremba et al., "Recurrent Neural Network Regularization".
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
