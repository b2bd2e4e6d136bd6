//! Counts the parameters of recurrent models.

use super::super::recurrent::Rnn;
use super::linear::linear;

/// Counts the embedding, the layers, and the head; a tied head has only its bias.
pub(super) fn of_rnn(rnn: &Rnn) -> u128 {
    let embedding = u128::from(rnn.vocabulary) * u128::from(rnn.embedding);
    let head = linear(rnn.hidden, rnn.vocabulary, true);
    let head = if rnn.tied_head { u128::from(rnn.vocabulary) } else { head };
    let layers = of_layer(rnn, rnn.embedding) + u128::from(rnn.layers - 1) * of_layer(rnn, rnn.hidden);
    embedding + layers + head
}

/// Counts the matrices of a layer for its input and for its state, each with a bias.
fn of_layer(rnn: &Rnn, inputs: u64) -> u128 {
    let outputs = rnn.cell.gates() * rnn.hidden;
    linear(inputs, outputs, true) + linear(rnn.hidden, outputs, true)
}

#[cfg(test)]
mod tests {
    use super::super::super::{Model, RecurrentCell};

    #[test]
    fn a_gru_has_three_quarters_of_the_matrices() {
        let Some(Model::Rnn(mut rnn)) = Model::preset("lstm-medium") else { panic!("a recurrent model") };
        rnn.cell = RecurrentCell::Gru;
        let layers = 2 * 3 * 2 * (650 * 650 + 650);
        assert_eq!(Model::Rnn(rnn).parameters(), 10_000 * 650 + layers + 10_000 * 650 + 10_000);
    }
}
