//! The residual blocks: convolutions whose result is added to their input.

use tch::Tensor;

use super::super::layer::{BatchNorm2d, Conv2d, Conv2dShape, Layout};
use crate::Result;
use crate::builder::Builder;
use crate::mistake::Hook;
use crate::pass::Pass;
use crate::place::Module;

/// Which convolutions a block has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// `BasicBlock`: two of 3 × 3 pixels.
    Basic,
    /// `Bottleneck`: 1 × 1, 3 × 3 and 1 × 1 pixels.
    Bottleneck,
}

impl BlockKind {
    /// Channels behind a block of this width.
    pub(super) fn outputs(self, width: i64) -> i64 {
        match self {
            Self::Basic => width,
            Self::Bottleneck => 4 * width,
        }
    }

    /// The convolutions of a block; in a bottleneck the one in the middle takes the stride.
    fn convolutions(self, inputs: i64, width: i64, stride: i64) -> Vec<Conv2dShape> {
        let shape = |inputs, outputs, kernel, stride| Conv2dShape { inputs, outputs, kernel, stride };
        match self {
            Self::Basic => vec![shape(inputs, width, 3, stride), shape(width, width, 3, 1)],
            Self::Bottleneck => {
                let outputs = self.outputs(width);
                vec![shape(inputs, width, 1, 1), shape(width, width, 3, stride), shape(width, outputs, 1, 1)]
            }
        }
    }
}

/// `BasicBlock` or `Bottleneck`.
#[derive(Debug)]
pub(super) struct Block {
    module: Module,
    hook: Hook,
    relu: Module,
    /// `conv1` with `bn1`, and so on.
    convolutions: Vec<(Conv2d, BatchNorm2d)>,
    /// What gives the input the shape of the output.
    downsample: Option<(Conv2d, BatchNorm2d)>,
}

impl Block {
    /// A block; `builder` is its own.
    pub(super) fn new(
        builder: &Builder,
        kind: BlockKind,
        inputs: i64,
        width: i64,
        stride: i64,
        layout: Layout,
    ) -> Result<Self> {
        let mut convolutions = Vec::new();
        for (index, shape) in kind.convolutions(inputs, width, stride).into_iter().enumerate() {
            let convolution = Conv2d::new(&builder.child(&format!("conv{}", index + 1)), shape, layout)?;
            let norm = BatchNorm2d::new(&builder.child(&format!("bn{}", index + 1)), shape.outputs)?;
            convolutions.push((convolution, norm));
        }
        let outputs = kind.outputs(width);
        let mut downsample = None;
        if stride != 1 || inputs != outputs {
            let builder = builder.child("downsample");
            let shape = Conv2dShape { inputs, outputs, kernel: 1, stride };
            let convolution = Conv2d::new(&builder.child("0"), shape, layout)?;
            downsample = Some((convolution, BatchNorm2d::new(&builder.child("1"), outputs)?));
        }
        let (module, hook) = (builder.module(), builder.inside().hook_of_layer());
        Ok(Self { module, hook, relu: builder.child("relu").module(), convolutions, downsample })
    }

    pub(super) fn forward(&self, input: &Tensor, pass: &Pass) -> Result<Tensor> {
        let output = self.module.run(|| {
            let mut features = input.shallow_clone();
            for (index, (convolution, norm)) in self.convolutions.iter().enumerate() {
                if index > 0 {
                    let _ = self.relu.run(|| features.f_relu_())?;
                }
                features = convolution.forward(&features)?;
                features = norm.forward(&features, pass)?;
            }
            // It lives as long as the block, like Python's variable.
            let identity = match &self.downsample {
                Some((convolution, norm)) => norm.forward(&convolution.forward(input)?, pass)?,
                None => input.shallow_clone(),
            };
            let _ = features.f_add_(&identity)?;
            let _ = self.relu.run(|| features.f_relu_())?;
            Ok(features)
        })?;
        self.hook.see(&output);
        Ok(output)
    }
}
