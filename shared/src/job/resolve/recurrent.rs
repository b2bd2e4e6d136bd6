//! Resolves recurrent models: a preset, and the keys that override it.

use super::super::raw::{MODEL, RawModel};
use super::super::recurrent::Rnn;
use super::Resolver;
use super::table::Table;

impl Resolver {
    pub(super) fn rnn(&mut self, raw: &mut Table<'_, RawModel>, base: &Rnn) -> Rnn {
        let hidden = self.one_size(raw, base.hidden);
        let usual = if raw.given.hidden.is_some() { hidden } else { base.embedding };
        let rnn = Rnn {
            cell: self.word(raw, &MODEL.cell, base.cell),
            vocabulary: self.whole(raw, &MODEL.vocabulary, base.vocabulary),
            embedding: self.whole(raw, &MODEL.embedding, usual),
            layers: self.layer_count(raw, base.layers),
            hidden,
            dropout: self.real(raw, &MODEL.dropout, base.dropout),
            tied_head: raw.flag(&MODEL.tied_head, base.tied_head),
            carry_hidden: self.word(raw, &MODEL.carry_hidden, base.carry_hidden),
        };
        if rnn.tied_head && rnn.embedding != rnn.hidden {
            let message = format!("a tied head needs an embedding of {hidden} features, not {}", rnn.embedding);
            self.problem("model.tied_head", message, "make `embedding` and `hidden` equal, or remove it");
        }
        rnn
    }
}
