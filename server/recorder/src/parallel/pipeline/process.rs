//! What a process keeps of its pipeline.

use std::cell::RefCell;

use shared::job::Pipeline as Config;
use tch::{Device, Kind, Tensor};

use crate::Result;
use crate::model::Stage;
use crate::numbers::Numbers as _;
use crate::place::Module;

/// Stage of one process, and what it keeps between steps.
pub(super) struct Pipeline {
    pub(super) stage: Stage,
    pub(super) config: Config,
    /// Number of stages after this one.
    pub(super) behind: usize,
    pub(super) device: Device,
    pub(super) parameters: Vec<Tensor>,
    pub(super) keep_outputs: bool,
    pub(super) state: RefCell<State>,
}

/// Tensors that outlive a step.
#[derive(Default)]
pub(super) struct State {
    /// Buffers of the inputs from the previous stage, by micro-batch; empty in the first stage.
    pub(super) inputs: Vec<Tensor>,
    /// Buffers of the gradients from the next stage, by micro-batch; empty in the last stage.
    pub(super) gradients: Vec<Tensor>,
    /// Outputs of the last stage.
    pub(super) outputs: Vec<Tensor>,
    /// Losses of the last stage.
    pub(super) losses: Vec<Tensor>,
    pub(super) ready: bool,
}

impl Pipeline {
    /// Allocates the buffers of what is received: `_initialize_stage`.
    pub(super) fn prepare(&self, state: &mut State, samples: i64) -> Result<()> {
        if std::mem::replace(&mut state.ready, true) {
            return Ok(());
        }
        let parts = 0..self.config.micro_batches;
        Module::named("receive").run(|| {
            // The stage exchanges one number with each neighbour, so that NCCL connects them.
            let received = Tensor::f_zeros([1], (Kind::Float, self.device))?;
            let sent = Tensor::f_zeros([0_i64; 0], (Kind::Float, self.device))?;
            if !self.stage.is_first() {
                let buffer = |_| self.stage.buffer(samples, self.device)?.f_set_requires_grad(true);
                state.inputs = parts.clone().map(buffer).collect::<Result<_>>()?;
            }
            if !self.stage.is_last() {
                state.gradients = parts.map(|_| self.stage.buffer(samples, self.device)).collect::<Result<_>>()?;
            }
            drop(sent);
            drop(received);
            Ok(())
        })
    }

    /// Divides the gradients by the number of micro-batches: `scale_grads`.
    pub(super) fn scale(&self) -> Result<()> {
        let share = 1.0 / self.config.micro_batches as f64;
        let _no_grad = tch::no_grad_guard();
        for parameter in &self.parameters {
            let gradient = parameter.f_grad()?;
            if gradient.defined() {
                gradient.multiply_number_(share)?;
            }
        }
        Ok(())
    }
}
