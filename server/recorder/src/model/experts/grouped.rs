//! Computes all experts in one grouped matrix product: `grouped_mm_experts_forward`.

use tch::{Kind, Tensor};

use super::Experts;
use super::router::Chosen;
use crate::Result;
use crate::numbers::{self, Numbers as _};

/// The tokens of a pass, each once for every expert that computes it, sorted by expert.
struct Sorted {
    /// Positions before sorting.
    order: Tensor,
    features: Tensor,
    weights: Tensor,
    /// End of each expert's tokens, followed by the tensors that it is computed from.
    ends: [Tensor; 4],
}

impl Experts {
    /// Computes the weighted sum of the outputs of each token's experts.
    pub(super) fn grouped(&self, rows: &Tensor, chosen: &Chosen) -> Result<Tensor> {
        let [tokens, features] = rows.size()[..] else { unreachable!("rows of features") };
        let per_token = self.config.per_token.cast_signed();
        let sorted = self.sort(rows, chosen)?;
        let mut computed = product(&sorted.features, &self.gate_up, &sorted)?;
        computed = self.gated(&computed)?;
        computed = product(&computed, &self.down, &sorted)?;
        let mut weighted = computed.f_mul(&sorted.weights.f_unsqueeze(-1)?)?;
        let places = inverse(&sorted.order)?;
        weighted = weighted.f_index(&[Some(&places)])?;
        let sum = weighted.f_view([tokens, per_token, features])?.f_sum_dim_intlist(1, false, None)?;
        let output = sum.f_to_kind(rows.kind())?;
        drop(sorted);
        drop((computed, weighted, places));
        drop(sum);
        Ok(output)
    }

    fn sort(&self, rows: &Tensor, chosen: &Chosen) -> Result<Sorted> {
        let (weights, experts) = (chosen.weights.f_reshape(-1)?, chosen.experts.f_reshape(-1)?);
        let (numbers, order) = experts.f_sort(-1, false)?;
        let features = rows.f_index(&[Some(order.floor_divide_number(self.config.per_token.cast_signed())?)])?;
        let weights = weights.f_index(&[Some(&order)])?;
        let narrow = numbers.f_to_kind(Kind::Int)?;
        let counts = narrow.count_below(self.config.count.cast_signed())?;
        let ends = counts.f_cumsum(0, Kind::Int)?;
        Ok(Sorted { order, features, weights, ends: [ends, counts, narrow, numbers] })
    }
}

/// Multiplies each token's features by its expert's weight, of shape (experts, outputs, inputs).
fn product(features: &Tensor, weight: &Tensor, sorted: &Sorted) -> Result<Tensor> {
    let [ends, ..] = &sorted.ends;
    let features = features.f_to_kind(weight.kind())?;
    features.f_internal_grouped_mm::<&Tensor>(&weight.f_transpose(-2, -1)?, Some(ends), None, None)
}

/// Returns the inverse of a permutation.
fn inverse(order: &Tensor) -> Result<Tensor> {
    let mut places = order.f_empty_like()?;
    let range = numbers::range(order.size()[0], order.device())?;
    let _ = places.f_index_put_(&[Some(order)], &range, false)?;
    Ok(places)
}
