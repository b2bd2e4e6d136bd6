//! `torch.optim.SGD` without dampening.

use shared::job::{self, OptimizerImplementation};
use tch::Tensor;

use super::lists::{self, FusedSgd, List};
use super::step::Step;
use crate::Result;
use crate::numbers::Numbers as _;

#[derive(Debug)]
pub(super) struct Sgd {
    config: job::Optimizer,
    /// Momentum buffers by parameter; `None` until the parameter's first step, and without momentum.
    buffers: Vec<Option<Tensor>>,
}

impl Sgd {
    pub(super) fn new(config: job::Optimizer, parameters: usize) -> Self {
        Self { config, buffers: (0..parameters).map(|_| None).collect() }
    }

    pub(super) fn step(&mut self, step: &Step<'_>, implementation: OptimizerImplementation) -> Result<()> {
        if step.active.indices.is_empty() {
            return Ok(());
        }
        match implementation {
            OptimizerImplementation::Foreach => self.foreach(step),
            OptimizerImplementation::Fused => self.fused(step),
            OptimizerImplementation::ForLoop => self.for_loop(step),
        }
    }

    fn has_momentum(&self) -> bool {
        self.config.momentum != 0.0
    }

    /// Follows `_multi_tensor_sgd`.
    fn foreach(&mut self, step: &Step<'_>) -> Result<()> {
        let (weights, gradients) = (&step.active.weights, &step.active.gradients);
        let decayed = if self.config.weight_decay == 0.0 {
            None
        } else {
            Some(gradients.add(weights, self.config.weight_decay)?)
        };
        let gradients = decayed.as_ref().unwrap_or(gradients);
        if !self.has_momentum() {
            return weights.add_(gradients, -self.config.learning_rate);
        }
        let buffers = self.foreach_buffers(step, gradients)?;
        if self.config.nesterov {
            gradients.add_(&buffers, self.config.momentum)?;
            return weights.add_(gradients, -self.config.learning_rate);
        }
        // Python assigns the buffers to the variable of the decayed gradients, which frees these.
        drop(decayed);
        weights.add_(&buffers, -self.config.learning_rate)
    }

    /// Returns the buffers updated by this step's gradients, and creates them at the first step.
    fn foreach_buffers(&mut self, step: &Step<'_>, gradients: &List) -> Result<List> {
        let known: Option<List> = self.active_buffers(step).collect();
        if let Some(buffers) = known {
            buffers.mul_scalar_(self.config.momentum)?;
            buffers.add_(gradients, 1.0)?;
            return Ok(buffers);
        }
        let indices = step.active.indices.iter().zip(gradients.iter());
        indices.map(|(&index, gradient)| self.buffer(step, index, gradient)).collect()
    }

    /// Follows `_single_tensor_sgd`.
    fn for_loop(&mut self, step: &Step<'_>) -> Result<()> {
        // Python's variable of this name holds its tensor until the next iteration.
        let mut gradient;
        for (position, &index) in step.active.indices.iter().enumerate() {
            let weight = &step.active.weights[position];
            gradient = step.active.gradients[position].shallow_clone();
            if self.config.weight_decay != 0.0 {
                gradient = lists::add(&gradient, weight, self.config.weight_decay)?;
            }
            if self.has_momentum() {
                let buffer = self.buffer(step, index, &gradient)?;
                gradient =
                    if self.config.nesterov { lists::add(&gradient, &buffer, self.config.momentum)? } else { buffer };
            }
            lists::add_(weight, &gradient, -self.config.learning_rate)?;
        }
        Ok(())
    }

    /// Follows `_fused_sgd`.
    fn fused(&mut self, step: &Step<'_>) -> Result<()> {
        let first_step = self.has_momentum() && self.active_buffers(step).all(|buffer| buffer.is_none());
        if first_step {
            for (&index, gradient) in step.active.indices.iter().zip(step.active.gradients.iter()) {
                let buffer = step.state_module(index, "momentum_buffer").run(|| gradient.f_empty_like())?;
                self.buffers[index] = Some(buffer);
            }
        }
        let buffers = self.active_buffers(step).flatten().collect();
        let with = FusedSgd {
            nesterov: self.config.nesterov,
            first_step,
            learning_rate: self.config.learning_rate,
            momentum: self.config.momentum,
            weight_decay: self.config.weight_decay,
            grad_scale: step.scaling.grad_scale.into(),
            found_inf: step.scaling.found_inf.into(),
        };
        lists::fused_sgd_(&step.active.weights, &step.active.gradients, &buffers, &with)
    }

    /// Returns a parameter's buffer updated by this gradient; at the first step it is a copy of the gradient.
    fn buffer(&mut self, step: &Step<'_>, index: usize, gradient: &Tensor) -> Result<Tensor> {
        if let Some(buffer) = &mut self.buffers[index] {
            buffer.multiply_number_(self.config.momentum)?;
            lists::add_(buffer, gradient, 1.0)?;
            return Ok(buffer.shallow_clone());
        }
        let buffer = step.state_module(index, "momentum_buffer").run(|| lists::clone(gradient))?;
        self.buffers[index] = Some(buffer.shallow_clone());
        Ok(buffer)
    }

    fn active_buffers<'a>(&'a self, step: &'a Step<'_>) -> impl Iterator<Item = Option<Tensor>> {
        step.active.indices.iter().map(|&index| self.buffers[index].as_ref().map(Tensor::shallow_clone))
    }
}
