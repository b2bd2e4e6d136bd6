//! Dropout: `torch.nn.Dropout`.

use tch::Tensor;

use crate::Result;
use crate::builder::Builder;
use crate::pass::Pass;
use crate::place::Module;

/// `torch.nn.Dropout`, which does nothing outside of training or with probability 0.
#[derive(Debug)]
pub(in crate::model) struct Dropout {
    module: Module,
    probability: f64,
}

impl Dropout {
    pub(in crate::model) fn new(builder: &Builder, probability: f64) -> Self {
        Self { module: builder.module(), probability }
    }

    pub(in crate::model) fn forward(&self, input: &Tensor, pass: &Pass) -> Result<Tensor> {
        self.module.run(|| input.f_dropout(self.probability, pass.training))
    }
}
