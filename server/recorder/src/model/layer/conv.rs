//! Layers of images: `torch.nn.Conv2d` with square kernels, and `torch.nn.BatchNorm2d`.

use shared::job::{Conv, Window};
use tch::{Device, Kind, Tensor};

use crate::Result;
use crate::builder::{Builder, Init};
use crate::model::Batch;
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

/// Returns images of shape (samples, channels, height, width) with random labels, in host memory.
pub(in crate::model) fn images(shape: [i64; 4], kind: Kind, layout: Layout, classes: i64) -> Result<Batch> {
    // Black images take as much memory as others and are the cheapest to create.
    let images = Tensor::f_zeros(shape, (kind, Device::Cpu))?;
    layout.apply(&images)?;
    let labels = Tensor::f_randint(classes, [shape[0]], (Kind::Int64, Device::Cpu))?;
    Ok(vec![("images", images), ("labels", labels)])
}

/// `torch.nn.Conv2d` with a square kernel.
#[derive(Debug)]
pub(in crate::model) struct Conv2d {
    module: Module,
    shape: Conv,
    weight: Tensor,
    bias: Option<Tensor>,
}

impl Conv2d {
    /// Creates a convolution of images with `inputs` channels, with PyTorch's initial values.
    pub(in crate::model) fn new(builder: &Builder, shape: Conv, inputs: u64, layout: Layout) -> Result<Self> {
        let fan_in = inputs / shape.groups * shape.window.kernel * shape.window.kernel;
        Self::of(builder, shape, inputs, layout, Init::Uniform(1.0 / (fan_in as f64).sqrt()))
    }

    /// Creates a convolution of a residual network: without a bias, and padded so that stride 1 keeps the image's size.
    pub(in crate::model) fn residual(builder: &Builder, shape: [u64; 4], layout: Layout) -> Result<Self> {
        let [inputs, channels, kernel, stride] = shape;
        let window = Window { kernel, stride, padding: kernel / 2 };
        let shape = Conv { channels, window, dilation: 1, groups: 1, bias: false };
        let fan_out = (channels * kernel * kernel) as f64;
        Self::of(builder, shape, inputs, layout, Init::Normal((2.0 / fan_out).sqrt()))
    }

    fn of(builder: &Builder, shape: Conv, inputs: u64, layout: Layout, init: Init) -> Result<Self> {
        let kernel = shape.window.kernel;
        let sizes = [shape.channels, inputs / shape.groups, kernel, kernel].map(u64::cast_signed);
        let weight = builder.parameter("weight", &sizes, init)?;
        layout.apply(&weight)?;
        let bias = builder.bias(shape.bias, sizes[0], init)?;
        Ok(Self { module: builder.module(), shape, weight, bias })
    }

    pub(in crate::model) fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let Conv { window: Window { stride, padding, .. }, dilation, groups, .. } = self.shape;
        let [stride, padding, dilation, groups] = [stride, padding, dilation, groups].map(u64::cast_signed);
        self.module.run(|| {
            // Autocast casts the operands of an operation from the last to the first.
            let bias = self.bias.as_ref().map(autocast::weight).transpose()?;
            let weight = autocast::weight(&self.weight)?;
            let input = autocast::activation(input)?;
            let (stride, padding, dilation) = ([stride; 2], [padding; 2], [dilation; 2]);
            input.f_conv2d(&weight, bias.as_ref(), stride, padding, dilation, groups)
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
            running_mean: builder.buffer("running_mean", &[channels], builder.kind, zero)?,
            running_var: builder.buffer("running_var", &[channels], builder.kind, one)?,
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
