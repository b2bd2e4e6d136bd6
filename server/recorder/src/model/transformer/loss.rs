//! Loss of a causal language model, in which each token predicts the next one.

use tch::{Kind, Reduction, Tensor};

use crate::Result;

/// Label of tokens without a prediction: the one after the last token.
const IGNORED: i64 = -100;

/// Computes cross entropy in 32 bits against the labels shifted by one token: `ForCausalLMLoss`.
pub(super) fn causal(logits: &Tensor, labels: &Tensor) -> Result<Tensor> {
    let vocabulary = logits.size().last().copied().unwrap_or_default();
    let logits = logits.f_to_kind(Kind::Float)?;
    let padded = labels.f_pad([0, 1], "constant", IGNORED as f64)?;
    let shifted = padded.f_slice(-1, 1, None, 1)?.f_contiguous()?;
    let loss = logits.f_view([-1, vocabulary])?.f_cross_entropy_loss(
        &shifted.f_view([-1])?,
        None::<&Tensor>,
        Reduction::Mean,
        IGNORED,
        0.0,
    )?;
    drop(logits);
    drop((padded, shifted));
    Ok(loss)
}
