//! What an optimizer reads in a step.

use tch::Tensor;

use super::held::Active;
use crate::builder::Parameter;
use crate::place::Module;

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
