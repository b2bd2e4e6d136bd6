//! Layers of images: `torch.nn.Conv2d` with square kernels, and `torch.nn.BatchNorm2d`.

use tch::{Kind, Tensor};

use crate::Result;
use crate::builder::{Builder, Init};
use crate::numbers::Numbers as _;
use crate::pass::{Pass, autocast};
use crate::place::Module;

/// Memory layout of images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model) enum Layout {
    /// `torch.contiguous_format`: all pixels of a channel are adjacent.
    ChannelsFirst,
    /// `torch.channels_last`: all channels of a pixel are adjacent.
    ChannelsLast,
}

impl Layout {
    /// Changes the strides of a contiguous tensor of four dimensions to this layout, without a copy.
    pub(in crate::model) fn apply(self, tensor: &Tensor) -> Result<()> {
        if self == Self::ChannelsFirst {
            return Ok(());
        }
        let (count, channels, height, width) = tensor.size4()?;
        let strides = [channels * height * width, 1, channels * width, channels];
        let _no_grad = tch::no_grad_guard();
        tensor.shallow_clone().f_as_strided_([count, channels, height, width], strides, None).map(drop)
    }
}

/// Shape of a convolution with a square kernel.
#[derive(Debug, Clone, Copy)]
pub(in crate::model) struct Conv2dShape {
    pub(in crate::model) inputs: i64,
    pub(in crate::model) outputs: i64,
    /// Height and width of the kernel in pixels; odd.
    pub(in crate::model) kernel: i64,
    /// Distance between the inputs of adjacent outputs, in pixels.
    pub(in crate::model) stride: i64,
}

/// `torch.nn.Conv2d` without a bias, padded so that stride 1 keeps the size of the image.
#[derive(Debug)]
pub(in crate::model) struct Conv2d {
    module: Module,
    shape: Conv2dShape,
    weight: Tensor,
}

impl Conv2d {
    pub(in crate::model) fn new(builder: &Builder, shape: Conv2dShape, layout: Layout) -> Result<Self> {
        let Conv2dShape { inputs, outputs, kernel, .. } = shape;
        let fan_out = (outputs * kernel * kernel) as f64;
        let weight =
            builder.parameter("weight", &[outputs, inputs, kernel, kernel], Init::Normal((2.0 / fan_out).sqrt()))?;
        layout.apply(&weight)?;
        Ok(Self { module: builder.module(), shape, weight })
    }

    pub(in crate::model) fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let Conv2dShape { kernel, stride, .. } = self.shape;
        let padding = kernel / 2;
        self.module.run(|| {
            // Autocast casts the operands of an operation from the last to the first.
            let weight = autocast::weight(&self.weight)?;
            let input = autocast::activation(input)?;
            input.f_conv2d(&weight, None::<&Tensor>, [stride, stride], [padding, padding], [1, 1], 1)
        })
    }
}

const MOMENTUM: f64 = 0.1;
const EPSILON: f64 = 1e-5;

/// `torch.nn.BatchNorm2d`, with its running statistics.
#[derive(Debug)]
pub(in crate::model) struct BatchNorm2d {
    module: Module,
    weight: Tensor,
    bias: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    batches: Tensor,
}

impl BatchNorm2d {
    pub(in crate::model) fn new(builder: &Builder, channels: i64) -> Result<Self> {
        let (zero, one) = (Init::Constant(0.0), Init::Constant(1.0));
        Ok(Self {
            module: builder.module(),
            weight: builder.parameter("weight", &[channels], one)?,
            bias: builder.parameter("bias", &[channels], zero)?,
            running_mean: builder.buffer("running_mean", &[channels], builder.kind(), zero)?,
            running_var: builder.buffer("running_var", &[channels], builder.kind(), one)?,
            batches: builder.buffer("num_batches_tracked", &[], Kind::Int64, zero)?,
        })
    }

    pub(in crate::model) fn forward(&self, input: &Tensor, pass: &Pass) -> Result<Tensor> {
        self.module.run(|| {
            if pass.training {
                self.batches.add_number_(1)?;
            }
            let (weight, bias) = (Some(&self.weight), Some(&self.bias));
            let (mean, var) = (Some(&self.running_mean), Some(&self.running_var));
            input.f_batch_norm(weight, bias, mean, var, pass.training, MOMENTUM, EPSILON, true)
        })
    }
}
