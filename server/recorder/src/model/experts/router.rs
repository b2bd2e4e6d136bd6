//! Router, which chooses the experts of each token: `MixtralTopKRouter`.

use shared::job;
use tch::{Kind, Tensor};

use crate::Result;
use crate::builder::Builder;
use crate::model::layer::{INITIALIZER_RANGE, Linear};
use crate::place::Module;

/// Choice of a router.
#[derive(Debug)]
pub(super) struct Chosen {
    /// Routing weights, of shape (tokens, experts per token).
    pub(super) weights: Tensor,
    /// Numbers of the experts, of the same shape.
    pub(super) experts: Tensor,
}

/// A linear layer with one output for each expert, of which the highest are chosen.
#[derive(Debug)]
pub(super) struct Router {
    module: Module,
    linear: Linear,
    per_token: i64,
}

impl Router {
    pub(super) fn new(builder: &Builder, config: &job::Experts, hidden: i64) -> Result<Self> {
        let linear = Linear::normal(builder, hidden, config.count.cast_signed(), false, INITIALIZER_RANGE)?;
        Ok(Self { module: builder.module(), linear, per_token: config.per_token.cast_signed() })
    }

    /// Returns the logits, and the experts that they choose.
    pub(super) fn forward(&self, rows: &Tensor) -> Result<(Tensor, Chosen)> {
        self.module.run(|| {
            // A view of its own, as in Python, because it decides where autograd sums the gradients.
            let rows = rows.f_reshape([-1, rows.size()[1]])?;
            let logits = self.linear.forward(&rows)?;
            let probabilities = logits.f_to_kind(Kind::Float)?.f_softmax(-1, None)?;
            let (mut weights, experts) = probabilities.f_topk(self.per_token, -1, true, true)?;
            let sum = weights.f_sum_dim_intlist(-1, true, None)?;
            let _ = weights.f_div_(&sum)?;
            drop(sum);
            drop(probabilities);
            Ok((logits, Chosen { weights, experts }))
        })
    }
}
