//! Patches of images as tokens: a convolution whose kernels do not overlap.

use tch::Tensor;

use crate::Result;
use crate::builder::{Builder, Init};
use crate::pass::autocast;
use crate::place::Module;

/// `ViTPatchEmbeddings`: a `torch.nn.Conv2d` with bias whose stride equals its kernel size.
#[derive(Debug)]
pub(in crate::model) struct Patches {
    module: Module,
    /// Height and width of a patch, in pixels.
    size: i64,
    weight: Tensor,
    bias: Tensor,
}

impl Patches {
    /// Creates the projection of patches of `inputs` channels to `outputs` features.
    pub(in crate::model) fn new(
        builder: &Builder,
        [inputs, outputs]: [i64; 2],
        size: i64,
        deviation: f64,
    ) -> Result<Self> {
        let weight = builder.parameter("weight", &[outputs, inputs, size, size], Init::Normal(deviation))?;
        let bias = builder.parameter("bias", &[outputs], Init::Constant(0.0))?;
        Ok(Self { module: builder.module(), size, weight, bias })
    }

    /// Returns features of shape (samples, patches, features).
    pub(in crate::model) fn forward(&self, images: &Tensor) -> Result<Tensor> {
        self.module.run(|| {
            // Autocast casts the operands of an operation from the last to the first.
            let bias = autocast::weight(&self.bias)?;
            let weight = autocast::weight(&self.weight)?;
            let images = autocast::activation(images)?;
            let stride = [self.size, self.size];
            let features = images.f_conv2d(&weight, Some(&bias), stride, [0, 0], [1, 1], 1)?;
            features.f_flatten(2, -1)?.f_transpose(1, 2)
        })
    }
}
