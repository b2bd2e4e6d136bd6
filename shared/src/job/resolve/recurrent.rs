//! Resolves recurrent models: a preset, and the keys that override it.

use super::super::raw::RawModel;
use super::super::recurrent::{CARRIES, CELLS, Rnn};
use super::Resolver;

/// Keys of recurrent models, besides `family` and `preset`.
pub(super) const RNN_KEYS: &[&str] =
    &["cell", "vocabulary", "embedding", "layers", "hidden", "dropout", "tied_head", "carry_hidden"];

impl Resolver {
    pub(super) fn rnn(&mut self, raw: &RawModel, base: &Rnn) -> Rnn {
        let hidden = self.one_size(raw.hidden.as_ref(), base.hidden);
        let usual = if raw.hidden.is_some() { hidden } else { base.embedding };
        let rnn = Rnn {
            cell: self.choice("model.cell", raw.cell.as_deref(), base.cell, CELLS),
            vocabulary: self.whole("model.vocabulary", raw.vocabulary, base.vocabulary),
            embedding: self.whole("model.embedding", raw.embedding, usual),
            layers: self.layer_count(raw, base.layers),
            hidden,
            dropout: self.real("model.dropout", raw.dropout, base.dropout),
            tied_head: raw.tied_head.unwrap_or(base.tied_head),
            carry_hidden: self.choice("model.carry_hidden", raw.carry_hidden.as_deref(), base.carry_hidden, CARRIES),
        };
        if rnn.tied_head && rnn.embedding != rnn.hidden {
            let message = format!("a tied head needs an embedding of {hidden} features, not {}", rnn.embedding);
            self.problem("model.tied_head", message, "make `embedding` and `hidden` equal, or remove it");
        }
        rnn
    }
}
