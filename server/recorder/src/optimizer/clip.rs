//! `torch.nn.utils.clip_grad_norm_`.

use tch::Tensor;

use super::lists::{self, List};
use crate::Result;
use crate::numbers::Numbers as _;

/// What keeps the division finite.
const EPSILON: f64 = 1e-6;

/// Scales gradients down, so that their common Euclidean norm is at most `max_norm`.
pub(super) fn clip_grad_norm(gradients: &List, max_norm: f64) -> Result<()> {
    if gradients.is_empty() {
        return Ok(());
    }
    let _no_grad = tch::no_grad_guard();
    let total_norm = total_norm(gradients)?;
    let coefficient = total_norm.add_number(EPSILON)?.f_reciprocal()?.multiply_number(max_norm)?;
    let clamped = coefficient.at_most_number(1.0)?;
    gradients.mul_tensor_(&clamped)?;
    // Python lets its variables go in the order in which they came.
    drop(coefficient);
    drop(clamped);
    Ok(())
}

/// The Euclidean norm of all gradients together.
fn total_norm(gradients: &List) -> Result<Tensor> {
    let norms = gradients.norm()?;
    lists::norm(&Tensor::f_stack(&norms, 0)?)
}
