//! Residual blocks: convolutions whose output is added to their input.

use shared::job::ResNetFamily;
use tch::Tensor;

use super::super::layer::{BatchNorm2d, Conv2d, Conv2dShape, Layout};
use super::relu::Relu;
use crate::Result;
use crate::builder::Builder;
use crate::pass::Pass;
use crate::place::Module;

/// Convolutions of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// `BasicBlock`: two of 3 × 3 pixels.
    Basic,
    /// `Bottleneck`: 1 × 1, 3 × 3 and 1 × 1 pixels.
    Bottleneck,
}

impl BlockKind {
    /// Returns the number of output channels of a block of this width.
    pub(super) fn outputs(self, width: i64) -> i64 {
        match self {
            Self::Basic => width,
            Self::Bottleneck => 4 * width,
        }
    }

    /// Returns the convolutions of a block; in a bottleneck the middle one has the stride.
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

#[derive(Debug, Clone, Copy)]
pub(super) struct BlockShape {
    pub(super) kind: BlockKind,
    /// Number of input channels.
    pub(super) inputs: i64,
    /// Number of channels inside the block.
    pub(super) width: i64,
    /// Distance between the inputs of adjacent outputs, in pixels.
    pub(super) stride: i64,
}

/// A convolution and the norm after it.
type Normed = (Conv2d, BatchNorm2d);

impl BlockShape {
    /// Creates `conv1` with `bn1`, and so on.
    fn convolutions(self, builder: &Builder, layout: Layout) -> Result<Vec<Normed>> {
        let shapes = self.kind.convolutions(self.inputs, self.width, self.stride);
        let convolution = |(number, shape): (usize, Conv2dShape)| {
            let convolution = Conv2d::new(&builder.child(&format!("conv{number}")), shape, layout)?;
            Ok((convolution, BatchNorm2d::new(&builder.child(&format!("bn{number}")), shape.outputs)?))
        };
        (1..).zip(shapes).map(convolution).collect()
    }

    /// Creates the projection of the input to the shape of the output, if these differ.
    fn downsample(self, builder: &Builder, layout: Layout) -> Result<Option<Normed>> {
        let outputs = self.kind.outputs(self.width);
        if self.stride == 1 && self.inputs == outputs {
            return Ok(None);
        }
        let builder = builder.child("downsample");
        let shape = Conv2dShape { inputs: self.inputs, outputs, kernel: 1, stride: self.stride };
        let convolution = Conv2d::new(&builder.child("0"), shape, layout)?;
        Ok(Some((convolution, BatchNorm2d::new(&builder.child("1"), outputs)?)))
    }
}

/// `BasicBlock` or `Bottleneck`.
#[derive(Debug)]
pub(super) struct Block {
    module: Module,
    relu: Relu,
    convolutions: Vec<Normed>,
    downsample: Option<Normed>,
}

impl Block {
    pub(super) fn new(builder: &Builder, shape: BlockShape, layout: Layout, family: ResNetFamily) -> Result<Self> {
        let (convolutions, downsample) = match family {
            ResNetFamily::Torchvision => {
                let convolutions = shape.convolutions(builder, layout)?;
                (convolutions, shape.downsample(builder, layout)?)
            }
            ResNetFamily::Transformers => {
                let downsample = shape.downsample(builder, layout)?;
                (shape.convolutions(builder, layout)?, downsample)
            }
        };
        let relu = Relu::new(&builder.child("relu"), family);
        Ok(Self { module: builder.module(), relu, convolutions, downsample })
    }

    pub(super) fn forward(&self, input: &Tensor, pass: &Pass) -> Result<Tensor> {
        self.module.run(|| {
            let mut features = input.shallow_clone();
            for (index, (convolution, norm)) in self.convolutions.iter().enumerate() {
                // In transformers these three layers are a module of their own, whose caller holds its input.
                let held = (!self.relu.is_in_place()).then(|| features.shallow_clone());
                features = convolution.forward(&features)?;
                features = norm.forward(&features, pass)?;
                if index + 1 < self.convolutions.len() {
                    features = self.relu.forward(features)?;
                }
                drop(held);
            }
            // Python's variable holds it until the block returns.
            let identity = match &self.downsample {
                Some((convolution, norm)) => norm.forward(&convolution.forward(input)?, pass)?,
                None => input.shallow_clone(),
            };
            let _ = features.f_add_(&identity)?;
            let output = self.relu.forward(features)?;
            drop(identity);
            Ok(output)
        })
    }
}
