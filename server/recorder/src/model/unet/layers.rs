//! Small layers of a U-Net: `torch.nn.GroupNorm`, `torch.nn.SiLU` and `Upsample2D`.

use shared::job;
use tch::Tensor;

use crate::Result;
use crate::builder::{Builder, Init};
use crate::model::layer::{Conv2d, Conv2dShape};
use crate::place::Module;

/// `torch.nn.GroupNorm`, which normalizes groups of channels.
#[derive(Debug)]
pub(super) struct GroupNorm {
    module: Module,
    weight: Tensor,
    bias: Tensor,
    epsilon: f64,
}

impl GroupNorm {
    pub(super) fn new(builder: &Builder, channels: i64, epsilon: f64) -> Result<Self> {
        let weight = builder.parameter("weight", &[channels], Init::Constant(1.0))?;
        let bias = builder.parameter("bias", &[channels], Init::Constant(0.0))?;
        Ok(Self { module: builder.module(), weight, bias, epsilon })
    }

    pub(super) fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let groups = job::Unet::GROUPS.cast_signed();
        self.module.run(|| input.f_group_norm(groups, Some(&self.weight), Some(&self.bias), self.epsilon, true))
    }
}

/// `torch.nn.SiLU`, which allocates its output.
#[derive(Debug)]
pub(super) struct Silu {
    module: Module,
}

impl Silu {
    pub(super) fn new(builder: &Builder) -> Self {
        Self { module: builder.module() }
    }

    pub(super) fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.module.run(|| input.f_silu())
    }
}

/// `Upsample2D`: repeats every pixel four times, then applies a convolution.
#[derive(Debug)]
pub(super) struct Upsample {
    module: Module,
    conv: Conv2d,
}

impl Upsample {
    pub(super) fn new(builder: &Builder, channels: i64) -> Result<Self> {
        let shape = Conv2dShape { inputs: channels, outputs: channels, kernel: 3, stride: 1 };
        Ok(Self { module: builder.module(), conv: Conv2d::with_bias(&builder.child("conv"), shape)? })
    }

    /// Returns features of twice the height and width, or of `size` if halving had rounded an odd size.
    pub(super) fn forward(&self, input: &Tensor, size: Option<[i64; 2]>) -> Result<Tensor> {
        self.module.run(|| {
            let larger = match size {
                Some(size) => input.f_upsample_nearest2d(size, None, None)?,
                None => {
                    let (_, _, height, width) = input.size4()?;
                    input.f_upsample_nearest2d([2 * height, 2 * width], 2.0, 2.0)?
                }
            };
            self.conv.forward(&larger)
        })
    }
}
