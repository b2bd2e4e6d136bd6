//! Head of a language model, which computes the logits of the whole vocabulary.

use shared::job;
use tch::Tensor;

use crate::Result;
use crate::builder::Builder;
use crate::model::layer::{Embedding, INITIALIZER_RANGE, Linear};
use crate::parallel::Holding;
use crate::parallel::TensorParallel;
use crate::place::Module;

/// A linear layer without bias, whose weight may be that of the embedding.
#[derive(Debug)]
pub(super) struct Head {
    module: Module,
    linear: Linear,
    split: Option<TensorParallel>,
}

impl Head {
    /// Creates the head of a model with this token embedding.
    pub(super) fn new(builder: &Builder, config: &job::Transformer, tokens: &Embedding) -> Result<Self> {
        let rows = tokens.weight().size()[0];
        let linear = if config.tied_head {
            Linear::tied(builder, tokens.weight())
        } else {
            Linear::normal(&builder.held(Holding::Part), config.hidden.cast_signed(), rows, false, INITIALIZER_RANGE)?
        };
        Ok(Self { module: builder.module(), linear, split: builder.split() })
    }

    pub(super) fn of(builder: &Builder, linear: Linear) -> Self {
        Self { module: builder.module(), linear, split: None }
    }

    /// Returns the logits of each token.
    pub(super) fn forward(&self, hidden: &Tensor) -> Result<Tensor> {
        let Some(split) = self.split else { return self.linear.forward(hidden) };
        self.module.run(|| {
            // Python's module holds its input until its hooks are done with the output.
            let hidden = split.enter_head(hidden)?;
            split.leave_head(&self.linear.forward(&hidden)?)
        })
    }
}
