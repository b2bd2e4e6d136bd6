//! `torch.amp.GradScaler`: scales losses so that float16 gradients do not underflow.

use tch::{Device, Kind, Tensor};

use super::Optimizer;
use super::step::Scaling;
use crate::Result;
use crate::numbers::{Numbers as _, full};
use crate::place::Module;

const INITIAL_SCALE: f64 = 65536.0;
const GROWTH_FACTOR: f64 = 2.0;
const BACKOFF_FACTOR: f64 = 0.5;
/// Number of steps without an infinity after which the scale grows.
const GROWTH_INTERVAL: i64 = 2000;

/// `torch.amp.GradScaler` for one optimizer, with PyTorch's defaults.
///
/// A step calls [`scale`](Self::scale), backward, [`unscale`](Self::unscale) if gradients are clipped,
/// [`step`](Self::step), and [`update`](Self::update).
#[derive(Debug)]
pub struct GradScaler {
    module: Module,
    device: Device,
    /// Created when the first loss is scaled.
    scale: Option<Scale>,
    /// 1 on the device if a gradient of this step is not finite; `None` until that is checked.
    found_inf: Option<Tensor>,
    unscaled: bool,
}

#[derive(Debug)]
struct Scale {
    factor: Tensor,
    /// Number of steps since the scale changed.
    growth: Tensor,
}

impl Scale {
    fn new(device: Device) -> Result<Self> {
        let factor = full(INITIAL_SCALE, Kind::Float, device)?;
        Ok(Self { factor, growth: full(0.0, Kind::Int, device)? })
    }
}

impl GradScaler {
    /// Creates a scaler whose tensors are allocated with the first loss.
    pub fn new(device: Device) -> Self {
        Self { module: Module::named("grad_scaler"), device, scale: None, found_inf: None, unscaled: false }
    }

    /// Returns the scaled loss.
    pub fn scale(&mut self, loss: &Tensor) -> Result<Tensor> {
        self.module.run(|| loss.f_mul(&self.ready()?.factor))
    }

    /// Divides the gradients by the scale, so that they can be clipped.
    pub fn unscale(&mut self, optimizer: &Optimizer) -> Result<()> {
        self.module.run(|| {
            let reciprocal = self.ready()?.factor.f_to_kind(Kind::Double)?.f_reciprocal()?;
            let inverse = reciprocal.f_to_kind(Kind::Float)?;
            drop(reciprocal);
            self.unscale_by(optimizer, &inverse)?;
            self.unscaled = true;
            Ok(())
        })
    }

    /// Takes the optimizer's step, unless a gradient is not finite.
    pub fn step(&mut self, optimizer: &mut Optimizer) -> Result<()> {
        if optimizer.is_fused() {
            return self.step_fused(optimizer);
        }
        if !self.unscaled {
            self.unscale(optimizer)?;
        }
        let found_inf = self.found_inf.as_ref().map_or(Ok(0.0), |found_inf| found_inf.f_double_value(&[]))?;
        if found_inf == 0.0 { optimizer.step() } else { Ok(()) }
    }

    /// Takes a step whose kernel unscales gradients and skips the update after an infinity.
    fn step_fused(&mut self, optimizer: &mut Optimizer) -> Result<()> {
        let (found_inf, grad_scale) = self.module.run(|| {
            if !self.unscaled {
                let one = full(1.0, Kind::Float, self.device)?;
                self.unscale_by(optimizer, &one)?;
            }
            // Python's `sum` of one tensor computes `0 + tensor`, and the scale is multiplied by the optimizer's own
            // scale, 1. Both operations allocate.
            let found_inf = self.found_inf.as_ref().map(|found_inf| found_inf.add_number(0)).transpose()?;
            let grad_scale = if self.unscaled { None } else { Some(self.ready()?.factor.multiply_number(1)?) };
            Ok((found_inf, grad_scale))
        })?;
        optimizer.step_scaled(&Scaling { grad_scale: grad_scale.as_ref(), found_inf: found_inf.as_ref() })
    }

    /// Adapts the scale to whether the step found an infinity.
    pub fn update(&mut self) -> Result<()> {
        self.unscaled = false;
        let Some(found_inf) = self.found_inf.take() else { return Ok(()) };
        let Scale { factor, growth } = self.ready()?;
        let _ =
            factor.f_internal_amp_update_scale_(growth, &found_inf, GROWTH_FACTOR, BACKOFF_FACTOR, GROWTH_INTERVAL)?;
        Ok(())
    }

    /// Returns the scale, and creates it at the first call.
    fn ready(&mut self) -> Result<&mut Scale> {
        match self.scale {
            Some(ref mut scale) => Ok(scale),
            ref mut none => Ok(none.insert(Scale::new(self.device)?)),
        }
    }

    /// Multiplies the gradients and checks for infinities like `_unscale_grads_`, on copies of both scalars.
    fn unscale_by(&mut self, optimizer: &Optimizer, inverse: &Tensor) -> Result<()> {
        let mut found_inf = full(0.0, Kind::Float, self.device)?;
        // On a virtual GPU that keeps small copies no kernel writes this 0, so that an earlier copy at this address
        // would be read as an infinity.
        found_inf.f_copy_(&Tensor::f_zeros([0; 0], (Kind::Float, Device::Cpu))?)?;
        let gradients = optimizer.gradients()?;
        if gradients.is_empty() {
            return Ok(());
        }
        let found_inf_copy = found_inf.f_to_dtype(Kind::Float, true, true)?;
        let inverse_copy = inverse.f_to_dtype(Kind::Float, true, true)?;
        gradients.unscale_(&found_inf_copy, &inverse_copy)?;
        self.found_inf = Some(found_inf_copy);
        Ok(())
    }
}
