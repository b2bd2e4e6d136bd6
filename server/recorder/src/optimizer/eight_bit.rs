//! `bitsandbytes.optim.Adam8bit` and `AdamW8bit`: optimizers with state in blocks of 8-bit numbers.
//!
//! Follows `bitsandbytes/optim/optimizer.py` of bitsandbytes 0.50. Its kernels work in place and are not part of
//! PyTorch, so that they are left out and the weights keep their values.

use tch::{Device, Kind, Tensor};

use super::step::Step;
use crate::place::Module;
use crate::{Result, shim};

/// Smallest tensor with 8-bit state, in elements: bitsandbytes' `min_8bit_size`. Smaller tensors have 32-bit state.
const LEAST_ELEMENTS: usize = 4096;
/// Number of elements that share a scale.
const BLOCK: usize = 256;
/// Number of values that 8 bits can represent.
const CODES: i64 = 256;

/// Adam with two running averages in 8 bits.
#[derive(Debug)]
pub(super) struct EightBit {
    /// Tables of the values that codes stand for, for averages and squares; created with the first 8-bit state.
    codes: Option<[Tensor; 2]>,
    /// States by parameter; `None` until the parameter's first step.
    states: Vec<Option<Vec<Tensor>>>,
}

impl EightBit {
    pub(super) fn new(parameters: usize) -> Self {
        Self { codes: None, states: (0..parameters).map(|_| None).collect() }
    }

    /// Follows `Optimizer8bit.step`, which synchronizes after each parameter's kernel.
    pub(super) fn step(&mut self, step: &Step<'_>) -> Result<()> {
        for (&index, weight) in step.active.indices.iter().zip(step.active.weights.iter()) {
            if self.states[index].is_none() {
                self.states[index] = Some(self.state(step, index, weight)?);
            }
            shim::synchronize()?;
        }
        Ok(())
    }

    /// Follows `Optimizer2State.init_state`.
    fn state(&mut self, step: &Step<'_>, index: usize, weight: &Tensor) -> Result<Vec<Tensor>> {
        let device = weight.device();
        let zeros = |name: &str, size: &[i64], kind| {
            step.state_module(index, name).run(|| Tensor::f_zeros(size, (kind, device)))
        };
        let shape = weight.size();
        if weight.numel() < LEAST_ELEMENTS {
            return ["state1", "state2"].into_iter().map(|name| zeros(name, &shape, Kind::Float)).collect();
        }
        if self.codes.is_none() {
            self.codes = Some(codes(device)?);
        }
        let blocks = [weight.numel().div_ceil(BLOCK) as i64];
        Ok(vec![
            zeros("state1", &shape, Kind::Uint8)?,
            zeros("state2", &shape, Kind::Uint8)?,
            zeros("absmax1", &blocks, Kind::Float)?,
            zeros("absmax2", &blocks, Kind::Float)?,
        ])
    }
}

/// Copies the two tables from the host; only kernels read their values, so zeros suffice.
fn codes(device: Device) -> Result<[Tensor; 2]> {
    let table = |name| {
        let table = Tensor::f_zeros([CODES], (Kind::Float, Device::Cpu))?;
        Module::named(name).run(|| table.f_to_device(device))
    };
    Ok([table("dynamic_codes")?, table("unsigned_dynamic_codes")?])
}
