//! Writes recurrent models with every key.

use super::super::cnn::Layers;
use super::super::raw::{RawModel, Sizes};
use super::super::recurrent::{CARRIES, CELLS, Rnn};
use super::word;

pub(super) fn raw_rnn(rnn: &Rnn) -> RawModel {
    RawModel {
        cell: word(CELLS, &rnn.cell),
        vocabulary: Some(rnn.vocabulary),
        embedding: Some(rnn.embedding),
        layers: Some(Layers::Count(rnn.layers)),
        hidden: Some(Sizes::One(rnn.hidden)),
        dropout: Some(rnn.dropout),
        tied_head: Some(rnn.tied_head),
        carry_hidden: word(CARRIES, &rnn.carry_hidden),
        ..RawModel::default()
    }
}
