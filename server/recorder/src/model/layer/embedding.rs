//! `torch.nn.Embedding`.

use tch::Tensor;

use crate::Result;
use crate::builder::{Builder, Init};
use crate::place::Module;

/// No index is one of padding.
const NO_PADDING: i64 = -1;

/// `torch.nn.Embedding`: a row of features for every index.
#[derive(Debug)]
pub(in crate::model) struct Embedding {
    module: Module,
    weight: Tensor,
}

impl Embedding {
    /// An embedding with normally distributed rows; `builder` is the layer's own.
    pub(in crate::model) fn new(builder: &Builder, rows: i64, features: i64, deviation: f64) -> Result<Self> {
        let weight = builder.parameter("weight", &[rows, features], Init::Normal(deviation))?;
        Ok(Self { module: builder.module(), weight })
    }

    /// The rows, of shape (rows, features).
    pub(in crate::model) fn weight(&self) -> &Tensor {
        &self.weight
    }

    pub(in crate::model) fn forward(&self, indices: &Tensor) -> Result<Tensor> {
        self.module.run(|| Tensor::f_embedding(&self.weight, indices, NO_PADDING, false, false))
    }
}
