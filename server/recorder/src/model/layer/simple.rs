//! Layers of one or a few operations: norms, activations, dropout, and the cross entropy that ends a model.

use std::f64::consts::PI;

use shared::job;
use tch::{Kind, Reduction, Tensor};

use crate::Result;
use crate::builder::{Builder, Init};
use crate::numbers::Numbers as _;
use crate::pass::Pass;
use crate::place::Module;

/// A norm over the features of each token.
#[derive(Debug)]
pub(in crate::model) struct Norm {
    module: Module,
    weight: Tensor,
    rule: Rule,
}

#[derive(Debug)]
enum Rule {
    Layer { bias: Tensor, epsilon: f64 },
    RootMeanSquare { epsilon: f64 },
}

impl Norm {
    pub(in crate::model) fn new(builder: &Builder, norm: job::Norm, features: i64) -> Result<Self> {
        let weight = builder.parameter("weight", &[features], Init::Constant(1.0))?;
        let rule = match norm {
            job::Norm::LayerNorm(epsilon) => {
                Rule::Layer { bias: builder.parameter("bias", &[features], Init::Constant(0.0))?, epsilon }
            }
            job::Norm::RmsNorm(epsilon) => Rule::RootMeanSquare { epsilon },
        };
        Ok(Self { module: builder.module(), weight, rule })
    }

    pub(in crate::model) fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.module.run(|| match &self.rule {
            Rule::Layer { bias, epsilon } => {
                input.f_layer_norm(self.weight.size(), Some(&self.weight), Some(bias), *epsilon, true)
            }
            Rule::RootMeanSquare { epsilon } => self.root_mean_square(input, *epsilon),
        })
    }

    /// Follows `LlamaRMSNorm`, which computes in 32 bits, whatever the dtype of the input.
    fn root_mean_square(&self, input: &Tensor, epsilon: f64) -> Result<Tensor> {
        let mut features = input.f_to_kind(Kind::Float)?;
        let variance = features.power_number(2)?.f_mean_dim(-1, true, None)?;
        features = {
            let shifted = variance.add_number(epsilon)?;
            let factor = shifted.f_rsqrt()?;
            drop(shifted);
            features.f_mul(&factor)?
        };
        let output = self.weight.f_mul(&features.f_to_kind(input.kind())?)?;
        drop(features);
        Ok(output)
    }
}

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

/// `torch.nn.functional.cross_entropy` with its defaults: the mean over all samples.
#[derive(Debug)]
pub(in crate::model) struct CrossEntropy {
    module: Module,
}

/// Label of ignored samples: PyTorch's `ignore_index`.
const IGNORED: i64 = -100;

impl CrossEntropy {
    pub(in crate::model) fn new(builder: &Builder) -> Self {
        Self { module: builder.module() }
    }

    pub(in crate::model) fn forward(&self, logits: &Tensor, labels: &Tensor) -> Result<Tensor> {
        self.module.run(|| logits.f_cross_entropy_loss::<Tensor>(labels, None, Reduction::Mean, IGNORED, 0.0))
    }
}
