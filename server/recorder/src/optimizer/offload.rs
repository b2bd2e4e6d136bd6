//! torchao's `CPUOffloadOptimizer`: large parameters are the host's, small ones stay with an optimizer on the device.

use tch::Tensor;

use super::lists;
use crate::Result;
use crate::builder::Parameter;
use crate::saving::HostOptimizer;

/// Smaller tensors stay on the device: torchao's `minimal_size`.
const LEAST_ELEMENTS: usize = 4096;

/// The parameters whose state is on the host.
#[derive(Debug)]
pub(super) struct Offload {
    optimizer: HostOptimizer,
    weights: Vec<Tensor>,
}

impl Offload {
    /// Takes the large parameters, and leaves the others; `gradients` frees those that the host has.
    pub(super) fn take(parameters: &mut Vec<Parameter>, gradients: bool) -> Result<Self> {
        let mut optimizer = HostOptimizer::new(gradients)?;
        let (large, small) = std::mem::take(parameters).into_iter().partition(Self::takes);
        *parameters = small;
        let large: Vec<Parameter> = large;
        for parameter in &large {
            parameter.module.run(|| optimizer.add(&parameter.tensor))?;
        }
        Ok(Self { optimizer, weights: large.into_iter().map(|parameter| parameter.tensor).collect() })
    }

    fn takes(parameter: &Parameter) -> bool {
        parameter.tensor.numel() >= LEAST_ELEMENTS
    }

    /// Brings the weights back.
    pub(super) fn step(&mut self) -> Result<()> {
        self.optimizer.step()
    }

    /// Frees the gradients on the device that are there.
    pub(super) fn reset_gradients(&self) {
        self.weights.iter().for_each(lists::reset_gradient);
    }
}
