//! Gradients of a model that is divided among processes, as DTensor brings them where an operation needs them.
//!
//! Each operation asks anew, and what it asked for is freed with it. Where nothing is divided, nothing happens here.

use tch::Tensor;

use super::Active;
use super::lists::{self, List};
use crate::Result;
use crate::builder::Holding;
use crate::numbers::Numbers as _;

/// A gradient as an operation reads it that also reads the weights: their part of it, summed over the processes.
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

/// The gradients, each summed over the processes; operations in place change the sums.
pub(super) fn summed(active: &Active) -> Result<List> {
    let of = |(gradient, holding): (&Tensor, &Holding)| match holding {
        Holding::GradientOfPart => lists::clone(gradient),
        _ => Ok(gradient.shallow_clone()),
    };
    active.gradients.iter().zip(&active.holdings).map(of).collect()
}

/// Norms of gradients, such that those of all processes add up: one that all have is divided among them.
pub(super) fn apart(norms: &List, active: &Active) -> Result<List> {
    if !is_divided(active) {
        return Ok(norms.share());
    }
    let of = |(norm, holding): (&Tensor, &Holding)| match holding {
        Holding::Part => Ok(norm.shallow_clone()),
        // By the square root of their number; which that is changes no allocation.
        _ => norm.divide_number(1.0),
    };
    norms.iter().zip(&active.holdings).map(of).collect()
}

/// The norms of all processes together.
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
