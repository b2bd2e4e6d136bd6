//! Residual networks of torchvision 0.26 (`models/resnet.py`) and transformers 5.23 (`modeling_resnet.py`).

mod block;
mod relu;

use shared::job::{self, ResNetFamily};
use tch::{Device, Kind, Tensor};

use super::layer::{BatchNorm2d, Conv2d, Conv2dShape, CrossEntropy, Layout, Linear};
use super::{Batch, Network, Output};
use crate::Result;
use crate::builder::Builder;
use crate::pass::{Pass, Shared};
use crate::place::Module;
use block::{Block, BlockKind, BlockShape};
use relu::Relu;

/// Number of colour channels.
const COLOURS: i64 = 3;
/// Number of output channels of the first convolution.
const STEM_CHANNELS: i64 = 64;

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
    ///
    /// # Errors
    ///
    /// Returns an error if memory runs out.
    pub fn new(config: &job::ResNet, builder: &Builder) -> Result<Self> {
        let layout = if config.channels_last { Layout::ChannelsLast } else { Layout::ChannelsFirst };
        let stem = Conv2dShape { inputs: COLOURS, outputs: STEM_CHANNELS, kernel: 7, stride: 2 };
        let conv1 = Conv2d::new(&builder.child("conv1"), stem, layout)?;
        let bn1 = BatchNorm2d::new(&builder.child("bn1"), STEM_CHANNELS)?;
        let (layers, features) = layers(config, builder, layout)?;
        let (size, classes) = (config.image_size.cast_signed(), config.classes.cast_signed());
        Ok(Self {
            conv1,
            bn1,
            relu: Relu::new(&builder.child("relu"), config.family),
            maxpool: builder.child("maxpool").module(),
            layers,
            avgpool: builder.child("avgpool").module(),
            fc: Linear::new(&builder.child("fc"), features, classes, true)?,
            loss: CrossEntropy::new(&builder.child("cross_entropy")),
            family: config.family,
            data: Images { size, classes, layout, kind: builder.kind() },
        })
    }
}

/// Builds `layer1` to `layer4`, and returns the number of their output channels too.
fn layers(config: &job::ResNet, builder: &Builder, layout: Layout) -> Result<(Vec<Vec<Shared<Block>>>, i64)> {
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
        // Black images take as much memory as others and are the cheapest to create.
        let images = Tensor::f_zeros([samples, COLOURS, size, size], (kind, Device::Cpu))?;
        layout.apply(&images)?;
        let labels = Tensor::f_randint(classes, [samples], (Kind::Int64, Device::Cpu))?;
        Ok(vec![("images", images), ("labels", labels)])
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
