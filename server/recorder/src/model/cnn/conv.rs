//! `torch.nn.Conv2d` with all options of a config.

use shared::job::{Conv, Window};
use tch::Tensor;

use crate::Result;
use crate::builder::{Builder, Init};
use crate::model::layer::Layout;
use crate::pass::autocast;
use crate::place::Module;

/// A convolution with every option that a config has for it.
#[derive(Debug)]
pub(super) struct FreeConv {
    module: Module,
    shape: Conv,
    weight: Tensor,
    bias: Option<Tensor>,
}

impl FreeConv {
    /// Creates a convolution of images with `inputs` channels.
    pub(super) fn new(builder: &Builder, shape: Conv, inputs: u64, layout: Layout) -> Result<Self> {
        let kernel = shape.window.kernel;
        let [outputs, inputs, kernel] = [shape.channels, inputs / shape.groups, kernel].map(u64::cast_signed);
        let bound = Init::Uniform(1.0 / ((inputs * kernel * kernel) as f64).sqrt());
        let weight = builder.parameter("weight", &[outputs, inputs, kernel, kernel], bound)?;
        layout.apply(&weight)?;
        let bias = if shape.bias { Some(builder.parameter("bias", &[outputs], bound)?) } else { None };
        Ok(Self { module: builder.module(), shape, weight, bias })
    }

    pub(super) fn forward(&self, input: &Tensor) -> Result<Tensor> {
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
