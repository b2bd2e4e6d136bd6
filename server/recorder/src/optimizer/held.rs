//! Redistributes gradients of a tensor-parallel model where an operation needs them, as DTensor does.
//!
//! Each operation redistributes anew, and its result is freed with it. Without tensor parallelism nothing happens here.

use tch::Tensor;

use super::lists::{self, List};
use crate::Result;
use crate::builder::Parameter;
use crate::numbers::Numbers as _;
use crate::parallel::Holding;

/// Parameters that have a gradient.
#[derive(Debug, Default)]
pub(super) struct Active {
    /// Positions of these parameters among all parameters.
    pub(super) indices: Vec<usize>,
    pub(super) weights: List,
    pub(super) gradients: List,
    pub(super) holdings: Vec<Holding>,
}

impl Active {
    pub(super) fn of(parameters: &[Parameter]) -> Result<Self> {
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

    /// Returns one gradient as [`Active::read`] does.
    pub(super) fn read_one(&self, position: usize) -> Result<Tensor> {
        read(&self.gradients[position], self.holdings[position])
    }

    /// Returns the gradients for an operation that also reads weights or numbers; see [`read`].
    pub(super) fn read(&self) -> Result<List> {
        self.gradients.iter().zip(&self.holdings).map(|(gradient, holding)| read(gradient, *holding)).collect()
    }
}

/// Returns a gradient for an operation that also reads the weights: this process's part, summed over the processes.
pub(super) fn read(gradient: &Tensor, holding: Holding) -> Result<Tensor> {
    match holding {
        Holding::All | Holding::Part => Ok(gradient.shallow_clone()),
        Holding::WholeGradient([rank, ranks]) => {
            let rows = gradient.size()[0] / ranks;
            lists::clone(&gradient.f_narrow(0, rank * rows, rows)?)
        }
        Holding::GradientOfPart => lists::clone(gradient),
    }
}

/// Returns the gradients, each summed over the processes; in-place operations change the sums.
pub(super) fn summed(active: &Active) -> Result<List> {
    let of = |(gradient, holding): (&Tensor, &Holding)| match holding {
        Holding::GradientOfPart => lists::clone(gradient),
        _ => Ok(gradient.shallow_clone()),
    };
    active.gradients.iter().zip(&active.holdings).map(of).collect()
}

/// Returns norms of gradients that can be summed over the processes.
///
/// The norm of a gradient that all processes hold is divided among them.
pub(super) fn apart(norms: &List, active: &Active) -> Result<List> {
    if !is_divided(active) {
        return Ok(norms.share());
    }
    let of = |(norm, holding): (&Tensor, &Holding)| match holding {
        Holding::Part => Ok(norm.shallow_clone()),
        // PyTorch divides by the square root of the number of processes; the divisor does not affect allocations.
        _ => norm.divide_number(1.0),
    };
    norms.iter().zip(&active.holdings).map(of).collect()
}

/// Combines the norms of all processes.
pub(super) fn together(norms: &Tensor, active: &Active) -> Result<Tensor> {
    if !is_divided(active) {
        return Ok(norms.shallow_clone());
    }
    let squares = norms.power_number(2.0)?;
    let sum = lists::clone(&squares)?;
    let roots = sum.power_number(0.5)?;
    drop(squares);
    drop(sum);
    Ok(roots)
}

fn is_divided(active: &Active) -> bool {
    active.holdings.iter().any(|holding| *holding != Holding::All)
}
