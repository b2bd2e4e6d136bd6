//! Residual block of a U-Net, which adds the time step to the features.

use tch::Tensor;

use super::layers::{GroupNorm, Silu};
use crate::Result;
use crate::builder::Builder;
use crate::model::layer::{Conv2d, Conv2dShape, Linear};
use crate::numbers::Numbers as _;
use crate::place::Module;

const EPSILON: f64 = 1e-5;

/// `ResnetBlock2D`.
#[derive(Debug)]
pub(super) struct Residual {
    module: Module,
    norm1: GroupNorm,
    conv1: Conv2d,
    time_emb_proj: Linear,
    norm2: GroupNorm,
    conv2: Conv2d,
    nonlinearity: Silu,
    /// Projection of the input to the channels of the output, if these differ.
    conv_shortcut: Option<Conv2d>,
}

impl Residual {
    /// Creates a block; `time` is the number of features of the time step.
    pub(super) fn new(builder: &Builder, [inputs, outputs]: [i64; 2], time: i64) -> Result<Self> {
        let conv = |name, inputs, kernel| {
            let shape = Conv2dShape { inputs, outputs, kernel, stride: 1 };
            Conv2d::with_bias(&builder.child(name), shape)
        };
        Ok(Self {
            module: builder.module(),
            norm1: GroupNorm::new(&builder.child("norm1"), inputs, EPSILON)?,
            conv1: conv("conv1", inputs, 3)?,
            time_emb_proj: Linear::new(&builder.child("time_emb_proj"), time, outputs, true)?,
            norm2: GroupNorm::new(&builder.child("norm2"), outputs, EPSILON)?,
            conv2: conv("conv2", outputs, 3)?,
            nonlinearity: Silu::new(&builder.child("nonlinearity")),
            conv_shortcut: (inputs != outputs).then(|| conv("conv_shortcut", inputs, 1)).transpose()?,
        })
    }

    pub(super) fn forward(&self, input: &Tensor, time: &Tensor) -> Result<Tensor> {
        self.module.run(|| {
            let mut features = self.norm1.forward(input)?;
            features = self.nonlinearity.forward(&features)?;
            features = self.conv1.forward(&features)?;
            let mut time = self.nonlinearity.forward(time)?;
            time = self.time_emb_proj.forward(&time)?.f_unsqueeze(-1)?.f_unsqueeze(-1)?;
            features = features.f_add(&time)?;
            features = self.norm2.forward(&features)?;
            features = self.nonlinearity.forward(&features)?;
            features = self.conv2.forward(&features)?;
            let shortcut = match &self.conv_shortcut {
                Some(conv) => conv.forward(input)?,
                None => input.shallow_clone(),
            };
            // diffusers divides by `output_scale_factor`, even if it is 1.
            let output = shortcut.f_add(&features)?.divide_number(1.0)?;
            drop((shortcut, time, features));
            Ok(output)
        })
    }
}
