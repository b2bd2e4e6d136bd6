//! Batch norm: `torch.nn.BatchNorm2d`.

use tch::{Kind, Tensor};

use crate::Result;
use crate::builder::{Builder, Init};
use crate::numbers::Numbers as _;
use crate::pass::Pass;
use crate::place::Module;

const MOMENTUM: f64 = 0.1;
const EPSILON: f64 = 1e-5;

/// `torch.nn.BatchNorm2d`, with its running statistics.
#[derive(Debug)]
pub(in crate::model) struct BatchNorm2d {
    module: Module,
    weight: Tensor,
    bias: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    batches: Tensor,
}

impl BatchNorm2d {
    pub(in crate::model) fn new(builder: &Builder, channels: i64) -> Result<Self> {
        let (zero, one) = (Init::Constant(0.0), Init::Constant(1.0));
        Ok(Self {
            module: builder.module(),
            weight: builder.parameter("weight", &[channels], one)?,
            bias: builder.parameter("bias", &[channels], zero)?,
            running_mean: builder.buffer("running_mean", &[channels], builder.kind(), zero)?,
            running_var: builder.buffer("running_var", &[channels], builder.kind(), one)?,
            batches: builder.buffer("num_batches_tracked", &[], Kind::Int64, zero)?,
        })
    }

    pub(in crate::model) fn forward(&self, input: &Tensor, pass: &Pass) -> Result<Tensor> {
        self.module.run(|| {
            if pass.training {
                self.batches.add_number_(1)?;
            }
            let (weight, bias) = (Some(&self.weight), Some(&self.bias));
            let (mean, var) = (Some(&self.running_mean), Some(&self.running_var));
            input.f_batch_norm(weight, bias, mean, var, pass.training, MOMENTUM, EPSILON, true)
        })
    }
}
