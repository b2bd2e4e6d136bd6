//! Gradient clipping: `torch.nn.utils.clip_grad_norm_`.

use tch::Tensor;

use super::lists::{self, List};
use super::step::Active;
use crate::Result;
use crate::numbers::Numbers as _;

/// Summand that keeps the division finite if the norm is 0.
const EPSILON: f64 = 1e-6;

/// Scales gradients down so that their common Euclidean norm is at most `max_norm`.
pub(super) fn clip_grad_norm(active: &Active, max_norm: f64, sharded: bool) -> Result<()> {
    let gradients = &active.gradients;
    if gradients.is_empty() {
        return Ok(());
    }
    let _no_grad = tch::no_grad_guard();
    let total_norm = if sharded { total_norm_of_shards(gradients)? } else { total_norm(gradients)? };
    let coefficient = total_norm.add_number(EPSILON)?.f_reciprocal()?.multiply_number(max_norm)?;
    let clamped = coefficient.at_most_number(1.0)?;
    gradients.mul_tensor_(&clamped)?;
    // Python drops its variables in the order in which they were assigned.
    drop(coefficient);
    drop(clamped);
    Ok(())
}

/// Returns the Euclidean norm of all gradients together.
fn total_norm(gradients: &List) -> Result<Tensor> {
    let norms = gradients.norm()?;
    let stacked = Tensor::f_stack(&norms, 0)?;
    lists::norm(&stacked)
}

/// Returns the norm of sharded gradients: the squared norms of the shards are summed over the processes.
fn total_norm_of_shards(gradients: &List) -> Result<Tensor> {
    let norms = gradients.norm()?;
    let parts = Tensor::f_stack(&norms, 0)?;
    let whole = {
        let squared = parts.power_number(2.0)?;
        let summed = lists::clone(&squared)?;
        let whole = summed.power_number(0.5)?;
        drop(squared);
        whole
    };
    lists::norm(&whole)
}
