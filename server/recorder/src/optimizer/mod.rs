//! Optimizers, clipping and the gradient scaler, following PyTorch 2.11's Python operation by operation.
//!
//! Temporary tensors are created and freed in Python's order, because their lifetimes decide the peak. Sources:
//! `torch/optim/{sgd,adam}.py`, `torch/nn/utils/clip_grad.py`, `torch/amp/grad_scaler.py`. All parameters have one
//! dtype and one device, so that Python's grouping of tensors yields a single group.

mod adam;
mod eight_bit;
mod lists;
mod scaler;
mod sgd;
mod step;

pub use scaler::GradScaler;

use shared::job::{self, OptimizerImplementation, OptimizerKind, OptimizerStorage, ZeroGrad};
use tch::Tensor;

use crate::Result;
use crate::builder::Parameter;
use crate::numbers::Numbers as _;
use crate::place::Module;
use crate::saving::HostOptimizer;
use adam::Adam;
use eight_bit::EightBit;
use lists::List;
use sgd::Sgd;
use step::{Active, Scaling, Step};

#[derive(Debug)]
pub struct Optimizer {
    module: Module,
    rule: Rule,
    implementation: OptimizerImplementation,
    parameters: Vec<Parameter>,
    /// Parameters whose state is on the host.
    offload: Option<Offload>,
    /// True if each parameter is a shard of a larger one.
    sharded: bool,
}

#[derive(Debug)]
enum Rule {
    Sgd(Sgd),
    Adam(Adam),
    EightBit(EightBit),
}

impl Optimizer {
    /// Creates an optimizer of these parameters, which may be shards; its state is allocated at the first step.
    ///
    /// # Errors
    ///
    /// Returns an error if the host has not enough pinned memory for offloaded parameters.
    pub fn new(config: job::Optimizer, mut parameters: Vec<Parameter>, sharded: bool) -> Result<Self> {
        let offload = match config.storage {
            OptimizerStorage::Host { gradients } => Some(Offload::take(&mut parameters, gradients)?),
            _ => None,
        };
        let (is_narrow, count) = (config.storage == OptimizerStorage::EightBit, parameters.len());
        let name = match config.kind {
            OptimizerKind::Sgd => "sgd",
            OptimizerKind::Adam if is_narrow => "adam8bit",
            OptimizerKind::AdamW if is_narrow => "adamw8bit",
            OptimizerKind::Adam => "adam",
            OptimizerKind::AdamW => "adamw",
        };
        let rule = match config.kind {
            OptimizerKind::Sgd => Rule::Sgd(Sgd::new(config, count)),
            _ if is_narrow => Rule::EightBit(EightBit::new(count)),
            _ => Rule::Adam(Adam::new(config, count)),
        };
        let (module, implementation) = (Module::named(name), config.implementation);
        Ok(Self { module, rule, implementation, parameters, offload, sharded })
    }

    /// Updates the parameters that have a gradient.
    pub fn step(&mut self) -> Result<()> {
        self.step_scaled(&Scaling::default())
    }

    /// Takes a step; a fused kernel skips it if the scaler has found an infinity.
    fn step_scaled(&mut self, scaling: &Scaling<'_>) -> Result<()> {
        let _no_grad = tch::no_grad_guard();
        let step = Step { active: Active::of(&self.parameters)?, parameters: &self.parameters, scaling };
        let (rule, implementation) = (&mut self.rule, self.implementation);
        self.module.run(|| match rule {
            Rule::Sgd(sgd) => sgd.step(&step, implementation),
            Rule::Adam(adam) => adam.step(&step, implementation),
            Rule::EightBit(eight_bit) => eight_bit.step(&step),
        })?;
        drop(step);
        self.offload.as_ref().map_or(Ok(()), |offload| offload.optimizer.step())
    }

    /// Returns true if steps unscale gradients and check for infinities themselves: `_step_supports_amp_scaling`.
    fn is_fused(&self) -> bool {
        self.implementation == OptimizerImplementation::Fused
    }

    /// Clears the gradients.
    pub fn zero_grad(&mut self, how: ZeroGrad) -> Result<()> {
        if how == ZeroGrad::SetToNone {
            self.offload.iter().for_each(Offload::reset_gradients);
            self.parameters.iter().for_each(|parameter| lists::reset_gradient(&parameter.tensor));
            return Ok(());
        }
        let gradients = self.gradients()?;
        if self.implementation != OptimizerImplementation::ForLoop {
            return gradients.zero_();
        }
        gradients.iter().try_for_each(|gradient| gradient.shallow_clone().f_zero_().map(drop))
    }

    /// Scales gradients down so that their common norm is at most `max_norm`: `clip_grad_norm_`.
    pub fn clip_grad_norm(&self, max_norm: f64) -> Result<()> {
        Module::named("clip_grad_norm")
            .run(|| clip_grad_norm(&Active::of(&self.parameters)?.gradients, max_norm, self.sharded))
    }

    fn gradients(&self) -> Result<List> {
        Ok(Active::of(&self.parameters)?.gradients)
    }
}

/// Summand that keeps the division finite if the norm is 0.
const EPSILON: f64 = 1e-6;

/// Scales gradients down so that their common Euclidean norm is at most `max_norm`.
fn clip_grad_norm(gradients: &List, max_norm: f64, sharded: bool) -> Result<()> {
    if gradients.is_empty() {
        return Ok(());
    }
    let _no_grad = tch::no_grad_guard();
    let total_norm = if sharded { total_norm_of_shards(gradients)? } else { total_norm(gradients)? };
    let coefficient = total_norm.add_number(EPSILON)?.f_reciprocal()?.multiply_number(max_norm)?;
    let clamped = coefficient.at_most_number(1.0)?;
    gradients.mul_tensor_(&clamped)?;
    // Python drops its variables in the order in which they were assigned.
    drop(coefficient);
    drop(clamped);
    Ok(())
}

/// Returns the Euclidean norm of all gradients together.
fn total_norm(gradients: &List) -> Result<Tensor> {
    let norms = gradients.norm()?;
    let stacked = Tensor::f_stack(&norms, 0)?;
    lists::norm(&stacked)
}

/// Returns the norm of sharded gradients: the squared norms of the shards are summed over the processes.
fn total_norm_of_shards(gradients: &List) -> Result<Tensor> {
    let norms = gradients.norm()?;
    let parts = Tensor::f_stack(&norms, 0)?;
    let whole = {
        let squared = parts.power_number(2.0)?;
        let summed = lists::clone(&squared)?;
        let whole = summed.power_number(0.5)?;
        drop(squared);
        whole
    };
    lists::norm(&whole)
}

/// Smallest tensor that is offloaded, in elements: torchao's `minimal_size`.
const LEAST_ELEMENTS: usize = 4096;

/// Parameters whose state is on the host.
#[derive(Debug)]
struct Offload {
    optimizer: HostOptimizer,
    weights: Vec<Tensor>,
}

impl Offload {
    /// Takes the large parameters out of `parameters`; `gradients` frees device gradients once the host has them.
    fn take(parameters: &mut Vec<Parameter>, gradients: bool) -> Result<Self> {
        let optimizer = HostOptimizer::new(gradients)?;
        let is_large = |parameter: &Parameter| parameter.tensor.numel() >= LEAST_ELEMENTS;
        let large: Vec<Parameter>;
        (large, *parameters) = std::mem::take(parameters).into_iter().partition(is_large);
        for parameter in &large {
            parameter.module.run(|| optimizer.add(&parameter.tensor))?;
        }
        Ok(Self { optimizer, weights: large.into_iter().map(|parameter| parameter.tensor).collect() })
    }

    /// Frees the remaining gradients on the device.
    fn reset_gradients(&self) {
        self.weights.iter().for_each(lists::reset_gradient);
    }
}
