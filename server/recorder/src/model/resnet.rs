//! Residual networks, as torchvision or transformers builds them.

use shared::job::{self, ResNetFamily};
use tch::{Kind, Tensor};

use super::layer::{BatchNorm2d, Conv2d, CrossEntropy, Layout, Linear, images};
use super::{Batch, Network, Output};
use crate::Result;
use crate::builder::Builder;
use crate::pass::{Pass, Shared};
use crate::place::Module;

/// Number of colour channels.
const COLOURS: u64 = 3;
/// Number of output channels of the first convolution.
const STEM_CHANNELS: u64 = 64;

/// A residual network that runs on images.
#[derive(Debug)]
pub struct ResNet {
    conv1: Conv2d,
    bn1: BatchNorm2d,
    relu: Relu,
    maxpool: Module,
    /// Blocks of `layer1` to `layer4`.
    layers: Vec<Vec<Shared<Block>>>,
    avgpool: Module,
    fc: Linear,
    loss: CrossEntropy,
    family: ResNetFamily,
    data: Images,
}

/// Properties of the images of a batch.
#[derive(Debug)]
struct Images {
    /// Height and width, in pixels.
    size: i64,
    classes: i64,
    layout: Layout,
    kind: Kind,
}

impl ResNet {
    /// Builds the model on the builder's device.
    pub fn new(config: &job::ResNet, builder: &Builder) -> Result<Self> {
        let layout = if config.channels_last { Layout::ChannelsLast } else { Layout::ChannelsFirst };
        let conv1 = Conv2d::residual(&builder.child("conv1"), [COLOURS, STEM_CHANNELS, 7, 2], layout)?;
        let bn1 = BatchNorm2d::new(&builder.child("bn1"), STEM_CHANNELS.cast_signed())?;
        let (layers, features) = layers(config, builder, layout)?;
        let (size, classes) = (config.image_size.cast_signed(), config.classes.cast_signed());
        Ok(Self {
            conv1,
            bn1,
            relu: Relu::new(&builder.child("relu"), config.family),
            maxpool: builder.child("maxpool").module(),
            layers,
            avgpool: builder.child("avgpool").module(),
            fc: Linear::new(&builder.child("fc"), features.cast_signed(), classes, true)?,
            loss: CrossEntropy::new(&builder.child("cross_entropy")),
            family: config.family,
            data: Images { size, classes, layout, kind: builder.kind },
        })
    }
}

/// Builds `layer1` to `layer4`, and returns the number of their output channels too.
fn layers(config: &job::ResNet, builder: &Builder, layout: Layout) -> Result<(Vec<Vec<Shared<Block>>>, u64)> {
    let kind = if config.depth.has_bottlenecks() { BlockKind::Bottleneck } else { BlockKind::Basic };
    let mut layers = Vec::new();
    let mut inputs = STEM_CHANNELS;
    for (index, count) in config.depth.blocks().into_iter().enumerate() {
        let builder = builder.child(&format!("layer{}", index + 1));
        let width = STEM_CHANNELS << index;
        let mut blocks = Vec::new();
        for number in 0..count {
            let stride = if index > 0 && number == 0 { 2 } else { 1 };
            let shape = BlockShape { kind, inputs, width, stride };
            let block = Block::new(&builder.child(&number.to_string()), shape, layout, config.family)?;
            blocks.push(Shared::new(block));
            inputs = kind.outputs(width);
        }
        layers.push(blocks);
    }
    Ok((layers, inputs))
}

impl Network for ResNet {
    fn batch(&self, samples: i64) -> Result<Batch> {
        let Images { size, classes, layout, kind } = self.data;
        images([samples, COLOURS.cast_signed(), size, size], kind, layout, classes)
    }

    fn forward(&self, batch: &Batch, pass: &Pass) -> Result<Output> {
        let mut features = self.conv1.forward(&batch[0].1)?;
        features = self.bn1.forward(&features, pass)?;
        features = self.relu.forward(features)?;
        features = self.maxpool.run(|| features.f_max_pool2d([3, 3], [2, 2], [1, 1], [1, 1], false))?;
        // In transformers a variable holds it until the last features are pooled.
        let embedded = self.output_holds_loss().then(|| features.shallow_clone());
        let mut before = 0;
        for blocks in &self.layers {
            features = layer(blocks, before, &features, pass)?;
            before += blocks.len();
        }
        let pooled = self.avgpool.run(|| features.f_adaptive_avg_pool2d([1, 1]))?;
        drop(embedded);
        // In torchvision each result is assigned to the variable of the previous one.
        let mut locals = Vec::from_iter(self.output_holds_loss().then_some(features));
        let logits = self.fc.forward(&pooled.f_flatten(1, -1)?)?;
        locals.extend(self.output_holds_loss().then_some(pooled));
        Ok(Output { locals, logits, kept: Vec::new() })
    }

    fn output_holds_loss(&self) -> bool {
        self.family == ResNetFamily::Transformers
    }

    fn loss(&self, output: &Output, batch: &Batch) -> Result<Tensor> {
        self.loss.forward(&output.logits, &batch[1].1)
    }
}

/// Runs the blocks of a layer in order; `before` is the number of blocks in earlier layers.
fn layer(blocks: &[Shared<Block>], before: usize, input: &Tensor, pass: &Pass) -> Result<Tensor> {
    let mut features = input.shallow_clone();
    for (index, block) in blocks.iter().enumerate() {
        let block = block.clone();
        features =
            pass.of_layer(before + index).layer(&[&features], move |inputs, pass| block.forward(inputs[0], pass))?;
    }
    Ok(features)
}

/// Convolutions of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    /// `BasicBlock`: two of 3 × 3 pixels.
    Basic,
    /// `Bottleneck`: 1 × 1, 3 × 3 and 1 × 1 pixels.
    Bottleneck,
}

impl BlockKind {
    /// Returns the number of output channels of a block of this width.
    fn outputs(self, width: u64) -> u64 {
        match self {
            Self::Basic => width,
            Self::Bottleneck => 4 * width,
        }
    }

    /// Returns the inputs, outputs, kernels and strides of a block; in a bottleneck the middle one has the stride.
    fn convolutions(self, inputs: u64, width: u64, stride: u64) -> Vec<[u64; 4]> {
        match self {
            Self::Basic => vec![[inputs, width, 3, stride], [width, width, 3, 1]],
            Self::Bottleneck => {
                vec![[inputs, width, 1, 1], [width, width, 3, stride], [width, self.outputs(width), 1, 1]]
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct BlockShape {
    kind: BlockKind,
    inputs: u64,
    /// Number of channels inside the block.
    width: u64,
    /// Distance between the inputs of adjacent outputs, in pixels.
    stride: u64,
}

/// A convolution and the norm after it.
type Normed = (Conv2d, BatchNorm2d);

/// Creates a convolution and a norm of these names.
fn normed(builder: &Builder, names: [&str; 2], shape: [u64; 4], layout: Layout) -> Result<Normed> {
    let convolution = Conv2d::residual(&builder.child(names[0]), shape, layout)?;
    Ok((convolution, BatchNorm2d::new(&builder.child(names[1]), shape[1].cast_signed())?))
}

impl BlockShape {
    /// Creates `conv1` with `bn1`, and so on.
    fn convolutions(self, builder: &Builder, layout: Layout) -> Result<Vec<Normed>> {
        let shapes = self.kind.convolutions(self.inputs, self.width, self.stride);
        let convolution = |(number, shape): (usize, [u64; 4])| {
            normed(builder, [&format!("conv{number}"), &format!("bn{number}")], shape, layout)
        };
        (1..).zip(shapes).map(convolution).collect()
    }

    /// Creates the projection of the input to the shape of the output, if these differ.
    fn downsample(self, builder: &Builder, layout: Layout) -> Result<Option<Normed>> {
        let outputs = self.kind.outputs(self.width);
        if self.stride == 1 && self.inputs == outputs {
            return Ok(None);
        }
        let shape = [self.inputs, outputs, 1, self.stride];
        normed(&builder.child("downsample"), ["0", "1"], shape, layout).map(Some)
    }
}

/// `BasicBlock` or `Bottleneck`.
#[derive(Debug)]
struct Block {
    module: Module,
    relu: Relu,
    convolutions: Vec<Normed>,
    downsample: Option<Normed>,
}

impl Block {
    fn new(builder: &Builder, shape: BlockShape, layout: Layout, family: ResNetFamily) -> Result<Self> {
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

    fn forward(&self, input: &Tensor, pass: &Pass) -> Result<Tensor> {
        self.module.run(|| {
            let mut features = input.shallow_clone();
            for (index, (convolution, norm)) in self.convolutions.iter().enumerate() {
                // In transformers these three layers are a module of their own, whose caller holds its input.
                let held = (!self.relu.in_place).then(|| features.shallow_clone());
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

/// An activation that overwrites its input, or allocates its output.
#[derive(Debug)]
struct Relu {
    module: Module,
    in_place: bool,
}

impl Relu {
    fn new(builder: &Builder, family: ResNetFamily) -> Self {
        Self { module: builder.module(), in_place: family == ResNetFamily::Torchvision }
    }

    /// Applies the activation, and drops the input, which nothing else needs.
    fn forward(&self, mut features: Tensor) -> Result<Tensor> {
        self.module.run(|| if self.in_place { features.f_relu_() } else { features.f_relu() })
    }
}
