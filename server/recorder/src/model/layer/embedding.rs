//! Embeddings of indices: `torch.nn.Embedding`.

use tch::Tensor;

use crate::Result;
use crate::builder::{Builder, Init};
use crate::place::Module;

/// Value of `padding_idx` that no index has.
const NO_PADDING: i64 = -1;

/// `torch.nn.Embedding`: one row of features for every index.
#[derive(Debug)]
pub(in crate::model) struct Embedding {
    module: Module,
    weight: Tensor,
}

impl Embedding {
    /// Creates an embedding with normally distributed rows.
    pub(in crate::model) fn new(builder: &Builder, rows: i64, features: i64, deviation: f64) -> Result<Self> {
        let weight = builder.parameter("weight", &[rows, features], Init::Normal(deviation))?;
        Ok(Self { module: builder.module(), weight })
    }

    /// Returns the weight, of shape (rows, features).
    pub(in crate::model) fn weight(&self) -> &Tensor {
        &self.weight
    }

    pub(in crate::model) fn forward(&self, indices: &Tensor) -> Result<Tensor> {
        self.module.run(|| Tensor::f_embedding(&self.weight, indices, NO_PADDING, false, false))
    }
}
