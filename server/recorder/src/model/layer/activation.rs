//! Activation functions of feed-forward networks.

use std::f64::consts::PI;

use shared::job;
use tch::Tensor;

use crate::Result;
use crate::builder::Builder;
use crate::numbers::Numbers as _;
use crate::place::Module;

/// An activation as Hugging Face's models compute it.
#[derive(Debug)]
pub(in crate::model) struct Activation {
    module: Module,
    kind: job::Activation,
}

impl Activation {
    pub(in crate::model) fn new(builder: &Builder, kind: job::Activation) -> Self {
        Self { module: builder.module(), kind }
    }

    /// Applies the activation, and drops the input afterwards; with a gate, it applies to the gate alone.
    pub(in crate::model) fn forward(&self, input: Tensor) -> Result<Tensor> {
        self.module.run(|| match self.kind {
            job::Activation::GeluNew => gelu_new(&input),
            job::Activation::Gelu => input.f_gelu("none"),
            job::Activation::GeluTanh => input.f_gelu("tanh"),
            job::Activation::Relu => input.f_relu(),
            job::Activation::SwiGlu => input.f_silu(),
        })
    }
}

/// Follows `NewGELUActivation`, from left to right.
///
/// `0.5 * x * (1.0 + tanh(sqrt(2.0 / pi) * (x + 0.044715 * pow(x, 3.0))))`
fn gelu_new(input: &Tensor) -> Result<Tensor> {
    let half = input.multiply_number(0.5)?;
    let mut inner = input.power_number(3.0)?;
    inner = inner.multiply_number(0.044_715)?;
    inner = input.f_add(&inner)?;
    inner = inner.multiply_number((2.0 / PI).sqrt())?;
    inner = inner.f_tanh()?;
    inner = inner.add_number(1.0)?;
    let output = half.f_mul(&inner)?;
    drop(half);
    Ok(output)
}
