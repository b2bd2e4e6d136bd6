//! Embeddings of time steps: `Timesteps` and `TimestepEmbedding`.

use tch::{Kind, Tensor};

use super::layers::Silu;
use crate::Result;
use crate::builder::Builder;
use crate::model::layer::Linear;
use crate::numbers::{self, Numbers as _};
use crate::place::Module;

/// `max_period` of diffusers: frequencies go from 1 down to almost 1 / 10,000.
const LONGEST: f64 = 10_000.0;

/// `Timesteps`: sine and cosine of the time step at many frequencies, none of them learned.
#[derive(Debug)]
pub(super) struct Timesteps {
    module: Module,
    features: i64,
}

impl Timesteps {
    /// Creates features for time steps; `features` is even.
    pub(super) fn new(builder: &Builder, features: i64) -> Self {
        Self { module: builder.module(), features }
    }

    /// Returns features of shape (samples, features), in 32 bits: `get_timestep_embedding`.
    pub(super) fn forward(&self, timesteps: &Tensor) -> Result<Tensor> {
        self.module.run(|| {
            let half = self.features / 2;
            let mut exponent = numbers::real_range(half, timesteps.device())?.multiply_number(-LONGEST.ln())?;
            exponent = exponent.divide_number(half)?;
            let mut features = exponent.f_exp()?;
            features = {
                let steps = timesteps.f_unsqueeze(1)?.f_to_kind(Kind::Float)?;
                steps.f_mul(&features.f_unsqueeze(0)?)?
            };
            features = features.multiply_number(1)?;
            features = {
                let (sine, cosine) = (features.f_sin()?, features.f_cos()?);
                let both = Tensor::f_cat(&[&sine, &cosine], -1)?;
                // Python drops the elements of a list from the last to the first.
                drop(cosine);
                drop(sine);
                both
            };
            features = {
                let (sine, cosine) = (features.f_narrow(1, 0, half)?, features.f_narrow(1, half, half)?);
                Tensor::f_cat(&[&cosine, &sine], -1)?
            };
            drop(exponent);
            Ok(features)
        })
    }
}

/// `TimestepEmbedding`: two linear layers.
#[derive(Debug)]
pub(super) struct TimestepEmbedding {
    module: Module,
    linear_1: Linear,
    act: Silu,
    linear_2: Linear,
}

impl TimestepEmbedding {
    /// Creates the layers from the features of [`Timesteps`] to those that residual blocks read.
    pub(super) fn new(builder: &Builder, [inputs, outputs]: [i64; 2]) -> Result<Self> {
        Ok(Self {
            module: builder.module(),
            linear_1: Linear::new(&builder.child("linear_1"), inputs, outputs, true)?,
            act: Silu::new(&builder.child("act")),
            linear_2: Linear::new(&builder.child("linear_2"), outputs, outputs, true)?,
        })
    }

    pub(super) fn forward(&self, features: &Tensor) -> Result<Tensor> {
        self.module.run(|| {
            let mut features = self.linear_1.forward(features)?;
            features = self.act.forward(&features)?;
            self.linear_2.forward(&features)
        })
    }
}
