//! Self-attention of encoders, in which every token attends to all tokens.

use tch::Tensor;

use super::{Attended, AttentionKernel};
use crate::Result;
use crate::builder::Builder;
use crate::model::layer::Linear;
use crate::pass::Pass;
use crate::place::Module;

/// Self-attention without a mask, with as many heads of keys and values as of queries.
#[derive(Debug)]
pub(in crate::model) struct SelfAttention {
    module: Module,
    query: Linear,
    key: Linear,
    value: Linear,
    kernel: AttentionKernel,
    head_dim: i64,
}

impl SelfAttention {
    /// Creates self-attention from the projections of its queries, keys and values.
    pub(in crate::model) fn new(
        builder: &Builder,
        [query, key, value]: [Linear; 3],
        kernel: AttentionKernel,
        head_dim: u64,
    ) -> Self {
        Self { module: builder.module(), query, key, value, kernel, head_dim: head_dim.cast_signed() }
    }

    /// Returns features of shape (samples, tokens, features), and the probabilities of eager attention.
    pub(in crate::model) fn forward(&self, input: &Tensor, pass: &Pass) -> Result<Attended> {
        self.module.run(|| {
            let query = self.split(&self.query.forward(input)?)?;
            let key = self.split(&self.key.forward(input)?)?;
            let value = self.split(&self.value.forward(input)?)?;
            let Attended { mut output, probabilities } = self.kernel.forward([&query, &key, &value], None, pass)?;
            output = output.f_flatten(2, 3)?;
            drop((query, key, value));
            Ok(Attended { output, probabilities })
        })
    }

    /// Splits features into heads, as the dimension before the tokens.
    fn split(&self, features: &Tensor) -> Result<Tensor> {
        let [samples, tokens, _] = features.size()[..] else { unreachable!("features are of samples and tokens") };
        features.f_view([samples, tokens, -1, self.head_dim])?.f_transpose(1, 2)
    }
}
