//! `torch.optim.Adam` and `torch.optim.AdamW`, which decays weights independently of the gradients.

use shared::job::{self, OptimizerImplementation, OptimizerKind};
use tch::{Kind, Tensor};

use super::lists::{self, FusedAdam, List};
use super::step::Step;
use crate::Result;
use crate::numbers::Numbers as _;

#[derive(Debug)]
pub(super) struct Adam {
    config: job::Optimizer,
    /// States by parameter; `None` until the parameter's first step.
    states: Vec<Option<State>>,
}

#[derive(Debug)]
struct State {
    /// Number of steps taken; on the device for the fused kernel, which counts there.
    step: Count,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
}

#[derive(Debug)]
enum Count {
    /// Python has it in a tensor in host memory.
    Host(i32),
    Device(Tensor),
}

impl Adam {
    pub(super) fn new(config: job::Optimizer, parameters: usize) -> Self {
        Self { config, states: (0..parameters).map(|_| None).collect() }
    }

    /// Returns true for AdamW.
    fn decoupled(&self) -> bool {
        self.config.kind == OptimizerKind::AdamW
    }

    pub(super) fn step(&mut self, step: &Step<'_>, implementation: OptimizerImplementation) -> Result<()> {
        for (&index, weight) in step.active.indices.iter().zip(step.active.weights.iter()) {
            if self.states[index].is_none() {
                self.states[index] = Some(State::new(step, index, weight, implementation)?);
            }
        }
        if step.active.indices.is_empty() {
            return Ok(());
        }
        match implementation {
            OptimizerImplementation::Foreach => self.foreach(step),
            OptimizerImplementation::Fused => self.fused(step),
            OptimizerImplementation::ForLoop => self.for_loop(step),
        }
    }

    /// Follows `_multi_tensor_adam`.
    fn foreach(&mut self, step: &Step<'_>) -> Result<()> {
        let corrections = self.corrections(step);
        let weights = &step.active.weights;
        let (averages, squares) = (self.list(step, |state| &state.exp_avg), self.list(step, |state| &state.exp_avg_sq));
        if self.decoupled() && self.config.weight_decay != 0.0 {
            weights.mul_scalar_(1.0 - self.config.learning_rate * self.config.weight_decay)?;
        }
        {
            let coupled = !self.decoupled() && self.config.weight_decay != 0.0;
            let decayed =
                if coupled { Some(step.active.gradients.add(weights, self.config.weight_decay)?) } else { None };
            let gradients = decayed.as_ref().unwrap_or(&step.active.gradients);
            averages.lerp_(gradients, 1.0 - self.config.betas.0)?;
            squares.mul_scalar_(self.config.betas.1)?;
            squares.addcmul_(gradients, gradients, 1.0 - self.config.betas.1)?;
        }
        let denominators = squares.sqrt()?;
        denominators.div_(&corrections.iter().map(|correction| correction.square_root).collect::<Vec<_>>())?;
        denominators.add_scalar_(self.config.epsilon)?;
        let step_sizes: Vec<_> = corrections.iter().map(|correction| -correction.step_size).collect();
        weights.addcdiv_(&averages, &denominators, &step_sizes)
    }

    /// Follows `_single_tensor_adam`.
    fn for_loop(&mut self, step: &Step<'_>) -> Result<()> {
        let corrections = self.corrections(step);
        // Python's variables of these names hold their tensors until the next iteration. In the end Python drops `grad`
        // before `denom`; Rust drops the variable that was declared last first.
        let mut denominator: Option<Tensor> = None;
        let mut gradient;
        for (position, correction) in corrections.iter().enumerate() {
            let weight = &step.active.weights[position];
            gradient = step.active.gradients[position].shallow_clone();
            if self.config.weight_decay != 0.0 && self.decoupled() {
                let factor = 1.0 - self.config.learning_rate * self.config.weight_decay;
                weight.multiply_number_(factor)?;
            } else if self.config.weight_decay != 0.0 {
                gradient = lists::add(&gradient, weight, self.config.weight_decay)?;
            }
            let betas = self.config.betas;
            let State { exp_avg, exp_avg_sq, .. } = self.state(step.active.indices[position]);
            exp_avg.lerp_number_(&gradient, 1.0 - betas.0)?;
            exp_avg_sq.multiply_number_(betas.1)?;
            lists::addcmul_(exp_avg_sq, &gradient, &gradient, 1.0 - betas.1)?;
            let next = exp_avg_sq.f_sqrt()?.divide_number(correction.square_root)?;
            next.add_number_(self.config.epsilon)?;
            let exp_avg = &self.state(step.active.indices[position]).exp_avg;
            lists::addcdiv_(weight, exp_avg, denominator.insert(next), -correction.step_size)?;
        }
        Ok(())
    }

    /// Follows `_fused_adam`.
    fn fused(&self, step: &Step<'_>) -> Result<()> {
        let (averages, squares) = (self.list(step, |state| &state.exp_avg), self.list(step, |state| &state.exp_avg_sq));
        let steps: List = self.active_states(step).filter_map(State::device_step).collect();
        steps.add_scalar_(1.0)?;
        let with = FusedAdam {
            decoupled: self.decoupled(),
            learning_rate: self.config.learning_rate,
            beta1: self.config.betas.0,
            beta2: self.config.betas.1,
            weight_decay: self.config.weight_decay,
            epsilon: self.config.epsilon,
            grad_scale: step.scaling.grad_scale.into(),
            found_inf: step.scaling.found_inf.into(),
        };
        lists::fused_adam_(&step.active.weights, &step.active.gradients, &averages, &squares, &steps, &with)?;
        // A skipped step does not count.
        step.scaling
            .found_inf
            .map_or(Ok(()), |found_inf| steps.sub_(&steps.iter().map(|_| found_inf.shallow_clone()).collect()))
    }

    /// Counts a step and returns the bias corrections of each active parameter.
    fn corrections(&mut self, step: &Step<'_>) -> Vec<Correction> {
        let (betas, learning_rate) = (self.config.betas, self.config.learning_rate);
        let correction = |&index| {
            let steps = self.state(index).count_host_step();
            Correction {
                step_size: learning_rate / (1.0 - betas.0.powi(steps)),
                square_root: (1.0 - betas.1.powi(steps)).sqrt(),
            }
        };
        step.active.indices.iter().map(correction).collect()
    }

    fn list(&self, step: &Step<'_>, tensor: impl Fn(&State) -> &Tensor) -> List {
        self.active_states(step).map(|state| tensor(state).shallow_clone()).collect()
    }

    fn active_states<'a>(&'a self, step: &'a Step<'_>) -> impl Iterator<Item = &'a State> {
        step.active.indices.iter().filter_map(|&index| self.states[index].as_ref())
    }

    /// Returns the state of an active parameter, which `step` has created.
    fn state(&mut self, index: usize) -> &mut State {
        self.states[index].as_mut().expect("an active parameter has its state")
    }
}

/// Bias corrections, needed because the averages start at zero.
struct Correction {
    step_size: f64,
    /// Square root of the correction of the second moment.
    square_root: f64,
}

impl State {
    /// Creates the state before the first step, allocated in Python's order.
    fn new(step: &Step<'_>, index: usize, weight: &Tensor, implementation: OptimizerImplementation) -> Result<Self> {
        let zeros = |name| step.state_module(index, name).run(|| weight.f_zeros_like());
        let count = if implementation == OptimizerImplementation::Fused {
            let zero = || Tensor::f_zeros([0_i64; 0], (Kind::Float, weight.device()));
            Count::Device(step.state_module(index, "step").run(zero)?)
        } else {
            Count::Host(0)
        };
        Ok(Self { step: count, exp_avg: zeros("exp_avg")?, exp_avg_sq: zeros("exp_avg_sq")? })
    }

    fn device_step(&self) -> Option<Tensor> {
        match &self.step {
            Count::Host(_) => None,
            Count::Device(step) => Some(step.shallow_clone()),
        }
    }

    /// Counts a step and returns the number of steps so far.
    fn count_host_step(&mut self) -> i32 {
        match &mut self.step {
            Count::Host(steps) => {
                *steps += 1;
                *steps
            }
            Count::Device(_) => unreachable!("only the fused kernel counts on the device"),
        }
    }
}
