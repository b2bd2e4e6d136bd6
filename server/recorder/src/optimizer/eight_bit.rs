//! `bitsandbytes.optim.Adam8bit` and `AdamW8bit`: state in blocks of 8-bit numbers.
//!
//! Follows `bitsandbytes/optim/optimizer.py` of bitsandbytes 0.50. Its kernels work in place and are not part of
//! PyTorch: the weights stay as they are.

use tch::{Device, Kind, Tensor};

use super::Step;
use crate::place::Module;
use crate::{Result, shim};

/// Smaller tensors keep 32 bits: bitsandbytes' `min_8bit_size`.
const LEAST_ELEMENTS: usize = 4096;
/// Elements that share a scale.
const BLOCK: usize = 256;
/// The numbers that 8 bits stand for.
const CODES: i64 = 256;

/// Adam with its two running averages in 8 bits.
#[derive(Debug)]
pub(super) struct EightBit {
    /// What the codes of the averages and of the squares stand for; made with the first state of 8 bits.
    codes: Option<[Tensor; 2]>,
    /// By parameter; `None` until its first step.
    states: Vec<Option<Vec<Tensor>>>,
}

impl EightBit {
    pub(super) fn new(parameters: usize) -> Self {
        Self { codes: None, states: (0..parameters).map(|_| None).collect() }
    }

    /// `Optimizer8bit.step`, which waits for each parameter's kernel.
    pub(super) fn step(&mut self, step: &Step<'_>) -> Result<()> {
        for (&index, weight) in step.active.indices.iter().zip(step.active.weights.iter()) {
            if self.states[index].is_none() {
                self.states[index] = Some(self.state(step, index, weight)?);
            }
            shim::synchronize()?;
        }
        Ok(())
    }

    /// `Optimizer2State.init_state`.
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

/// The two tables, from the host: their values are read by kernels only.
fn codes(device: Device) -> Result<[Tensor; 2]> {
    let table = |name| {
        let table = Tensor::f_zeros([CODES], (Kind::Float, Device::Cpu))?;
        Module::named(name).run(|| table.f_to_device(device))
    };
    Ok([table("dynamic_codes")?, table("unsigned_dynamic_codes")?])
}
