//! Norms: `torch.nn.LayerNorm`, and the root mean square norm as Llama computes it.

use shared::job;
use tch::{Kind, Tensor};

use crate::Result;
use crate::builder::{Builder, Init};
use crate::numbers::Numbers as _;
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
