//! torchao's `CPUOffloadOptimizer`: moves large parameters to the host; an optimizer on the device steps small ones.

use tch::Tensor;

use super::lists;
use crate::Result;
use crate::builder::Parameter;
use crate::saving::HostOptimizer;

/// Smallest tensor that is offloaded, in elements: torchao's `minimal_size`.
const LEAST_ELEMENTS: usize = 4096;

/// Parameters whose state is on the host.
#[derive(Debug)]
pub(super) struct Offload {
    optimizer: HostOptimizer,
    weights: Vec<Tensor>,
}

impl Offload {
    /// Takes the large parameters out of `parameters`; `gradients` frees device gradients once the host has them.
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

    /// Copies the weights back to the device.
    pub(super) fn step(&mut self) -> Result<()> {
        self.optimizer.step()
    }

    /// Frees the remaining gradients on the device.
    pub(super) fn reset_gradients(&self) {
        self.weights.iter().for_each(lists::reset_gradient);
    }
}
