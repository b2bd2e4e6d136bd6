//! What an optimizer reads in a step.

use tch::Tensor;

use super::lists::List;
use crate::Result;
use crate::builder::Parameter;
use crate::place::Module;

/// Parameters that have a gradient.
#[derive(Debug, Default)]
pub(super) struct Active {
    /// Positions of these parameters among all parameters.
    pub(super) indices: Vec<usize>,
    pub(super) weights: List,
    pub(super) gradients: List,
}

impl Active {
    pub(super) fn of(parameters: &[Parameter]) -> Result<Self> {
        let mut active = Self::default();
        for (index, Parameter { tensor, .. }) in parameters.iter().enumerate() {
            let gradient = tensor.f_grad()?;
            if gradient.defined() {
                active.indices.push(index);
                active.weights.push(tensor.shallow_clone());
                active.gradients.push(gradient);
            }
        }
        Ok(active)
    }
}

/// Arguments of a fused step that come from a [`GradScaler`](super::GradScaler).
#[derive(Debug, Default)]
pub(super) struct Scaling<'a> {
    /// Divisor of the gradients; `None` if they are already unscaled.
    pub(super) grad_scale: Option<&'a Tensor>,
    /// 1 if a gradient is not finite.
    pub(super) found_inf: Option<&'a Tensor>,
}

/// A step of all parameters that have a gradient.
pub(super) struct Step<'a> {
    pub(super) active: Active,
    pub(super) parameters: &'a [Parameter],
    pub(super) scaling: &'a Scaling<'a>,
}

impl Step<'_> {
    /// Returns the module of an active parameter's state, such as `head.weight.exp_avg`.
    pub(super) fn state_module(&self, index: usize, name: &str) -> Module {
        self.parameters[index].module.child(name)
    }
}
