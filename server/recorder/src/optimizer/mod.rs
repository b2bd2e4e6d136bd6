//! Optimizers, clipping and the gradient scaler, as PyTorch 2.11's Python has them, operation by operation.
//!
//! Temporary tensors are made in Python's order and freed where and in which order Python frees them: they decide
//! the peak. Sources: `torch/optim/{sgd,adam}.py`, `torch/nn/utils/clip_grad.py`, `torch/amp/grad_scaler.py`.
//! All parameters have one number format and one device, so that Python's groups of lists are one.

mod lists;

mod adam;
mod clip;
mod eight_bit;
mod held;
mod offload;
mod scaler;
mod sgd;

pub use scaler::GradScaler;

use shared::job::{self, OptimizerImplementation, OptimizerKind, OptimizerStorage, ZeroGrad};
use tch::Tensor;

use crate::Result;
use crate::builder::{Holding, Parameter};
use crate::place::Module;
use adam::Adam;
use eight_bit::EightBit;
use lists::List;
use offload::Offload;
use sgd::Sgd;

/// An optimizer with its parameters and its state.
#[derive(Debug)]
pub struct Optimizer {
    module: Module,
    rule: Rule,
    implementation: OptimizerImplementation,
    parameters: Vec<Parameter>,
    /// What is on the host instead.
    offload: Option<Offload>,
    /// Whether each parameter is a part of one that several processes have.
    sharded: bool,
    whole: Option<Whole>,
}

/// The parameters of all processes, where each steps a share of them.
#[derive(Debug)]
pub(crate) struct Whole {
    /// In the order of the model.
    pub(crate) parameters: Vec<Parameter>,
    /// What the weights are views of, if anything.
    pub(crate) _buckets: Vec<Tensor>,
}

#[derive(Debug)]
enum Rule {
    Sgd(Sgd),
    Adam(Adam),
    EightBit(EightBit),
}

impl Optimizer {
    /// An optimizer of these parameters; its state comes into being with the first step.
    ///
    /// # Errors
    ///
    /// The host has no pinned memory for what is offloaded.
    pub fn new(config: job::Optimizer, mut parameters: Vec<Parameter>) -> Result<Self> {
        let offload = match config.storage {
            OptimizerStorage::Host { gradients } => Some(Offload::take(&mut parameters, gradients)?),
            _ => None,
        };
        let is_narrow = config.storage == OptimizerStorage::EightBit;
        let (name, rule) = match config.kind {
            OptimizerKind::Adam { .. } if is_narrow => ("adam8bit", Rule::EightBit(EightBit::new(parameters.len()))),
            OptimizerKind::AdamW { .. } if is_narrow => ("adamw8bit", Rule::EightBit(EightBit::new(parameters.len()))),
            OptimizerKind::Sgd { momentum, nesterov } => {
                ("sgd", Rule::Sgd(Sgd::new(&config, momentum, nesterov, parameters.len())))
            }
            OptimizerKind::Adam { betas, epsilon } => {
                ("adam", Rule::Adam(Adam::new(&config, false, betas, epsilon, parameters.len())))
            }
            OptimizerKind::AdamW { betas, epsilon } => {
                ("adamw", Rule::Adam(Adam::new(&config, true, betas, epsilon, parameters.len())))
            }
        };
        let (module, implementation) = (Module::named(name), config.implementation);
        Ok(Self { module, rule, implementation, parameters, offload, sharded: false, whole: None })
    }

    /// The same optimizer, which clips and clears the gradients of other parameters too.
    pub(crate) fn with_whole(self, whole: Option<Whole>) -> Self {
        Self { whole, ..self }
    }

    /// The parameters whose gradients are clipped and cleared.
    fn all(&self) -> &[Parameter] {
        self.whole.as_ref().map_or(&self.parameters, |whole| &whole.parameters)
    }

    /// The same optimizer, whose parameters are shards or not.
    pub fn with_shards(self, sharded: bool) -> Self {
        Self { sharded, ..self }
    }

    /// Changes the parameters that have a gradient.
    ///
    /// # Errors
    ///
    /// An operation fails, most likely for lack of memory.
    pub fn step(&mut self) -> Result<()> {
        self.step_scaled(&Scaling::default())
    }

    /// A step that a fused kernel leaves out where the scaler has found an infinity.
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
        self.offload.as_mut().map_or(Ok(()), Offload::step)
    }

    /// Whether steps scale gradients and look for infinities themselves: `_step_supports_amp_scaling`.
    ///
    /// `ZeroRedundancyOptimizer` does not say so of the optimizer inside it.
    fn is_fused(&self) -> bool {
        self.implementation == OptimizerImplementation::Fused && self.whole.is_none()
    }

    /// Clears the gradients.
    ///
    /// # Errors
    ///
    /// An operation fails.
    pub fn zero_grad(&mut self, how: ZeroGrad) -> Result<()> {
        if how == ZeroGrad::SetToNone {
            self.offload.iter().for_each(Offload::reset_gradients);
            self.all().iter().for_each(|parameter| lists::reset_gradient(&parameter.tensor));
            return Ok(());
        }
        let gradients = self.gradients()?;
        if self.implementation != OptimizerImplementation::ForLoop {
            return gradients.zero_();
        }
        gradients.iter().try_for_each(|gradient| gradient.shallow_clone().f_zero_().map(drop))
    }

    /// Scales the gradients down, so that their common norm is at most `max_norm`: `clip_grad_norm_`.
    ///
    /// # Errors
    ///
    /// An operation fails.
    pub fn clip_grad_norm(&self, max_norm: f64) -> Result<()> {
        Module::named("clip_grad_norm").run(|| clip::clip_grad_norm(&Active::of(self.all())?, max_norm, self.sharded))
    }

    /// The gradients that there are, as a script would name them.
    ///
    /// # Errors
    ///
    /// An operation fails.
    pub fn share_gradients(&self) -> Result<Vec<Tensor>> {
        Ok(self.gradients()?.iter().map(Tensor::shallow_clone).collect())
    }

    /// The gradients that there are.
    fn gradients(&self) -> Result<List> {
        Ok(Active::of(self.all())?.gradients)
    }
}

/// What a fused step gets from a [`GradScaler`].
#[derive(Debug, Default)]
struct Scaling<'a> {
    /// What gradients are divided by; `None` where that is done.
    grad_scale: Option<&'a Tensor>,
    /// 1 where a gradient is not finite.
    found_inf: Option<&'a Tensor>,
}

/// One step of an optimizer.
struct Step<'a> {
    active: Active,
    parameters: &'a [Parameter],
    scaling: &'a Scaling<'a>,
}

impl Step<'_> {
    /// The module of an active parameter's state, such as `head.weight.exp_avg`.
    fn state_module(&self, index: usize, name: &str) -> Module {
        self.parameters[index].module.child(name)
    }
}

/// The parameters that have a gradient.
#[derive(Debug, Default)]
struct Active {
    /// Their places among the parameters.
    indices: Vec<usize>,
    weights: List,
    gradients: List,
    holdings: Vec<Holding>,
}

impl Active {
    fn of(parameters: &[Parameter]) -> Result<Self> {
        let mut active = Self::default();
        for (index, Parameter { tensor, holding, .. }) in parameters.iter().enumerate() {
            let gradient = tensor.f_grad()?;
            if gradient.defined() {
                active.indices.push(index);
                active.weights.push(tensor.shallow_clone());
                active.gradients.push(gradient);
                active.holdings.push(*holding);
            }
        }
        Ok(active)
    }

    /// One of the gradients, as [`Active::read`] has them.
    fn read_one(&self, position: usize) -> Result<Tensor> {
        held::read(&self.gradients[position], self.holdings[position])
    }

    /// The gradients as an operation with weights or numbers reads them: see [`held::read`].
    fn read(&self) -> Result<List> {
        self.gradients.iter().zip(&self.holdings).map(|(gradient, holding)| held::read(gradient, *holding)).collect()
    }
}
