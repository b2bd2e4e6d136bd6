//! Lists of layers: `torch.nn.Sequential` of convolutions and others.

use shared::job::{self, CnnLayer, Features, Window};
use tch::{Kind, Tensor};

use super::layer::{BatchNorm2d, Conv2d, CrossEntropy, Dropout, Layout, Linear, images};
use super::{Batch, Network, Output};
use crate::Result;
use crate::builder::Builder;
use crate::pass::Pass;
use crate::place::Module;

/// A list of layers that runs on images.
#[derive(Debug)]
pub struct Cnn {
    layers: Vec<Layer>,
    loss: CrossEntropy,
    /// Channels, height and width of an image.
    image: [i64; 3],
    classes: i64,
    layout: Layout,
    kind: Kind,
}

impl Cnn {
    /// Builds the model on the builder's device.
    pub fn new(config: &job::Cnn, builder: &Builder) -> Result<Self> {
        let layout = if config.channels_last { Layout::ChannelsLast } else { Layout::ChannelsFirst };
        let mut layers = Vec::new();
        let list = builder.child("layers");
        for (index, (layer, before)) in config.layers.iter().zip(config.features()).enumerate() {
            layers.push(Layer::new(&list.child(&index.to_string()), layer, before, layout)?);
        }
        let size = config.image_size.cast_signed();
        Ok(Self {
            layers,
            loss: CrossEntropy::new(&builder.child("cross_entropy")),
            image: [config.input_channels.cast_signed(), size, size],
            classes: config.classes().cast_signed(),
            layout,
            kind: builder.kind,
        })
    }
}

impl Network for Cnn {
    fn batch(&self, samples: i64) -> Result<Batch> {
        let [channels, height, width] = self.image;
        images([samples, channels, height, width], self.kind, self.layout, self.classes)
    }

    fn forward(&self, batch: &Batch, pass: &Pass) -> Result<Output> {
        let mut features = batch[0].1.shallow_clone();
        for layer in &self.layers {
            features = layer.forward(features, pass)?;
        }
        Ok(Output { locals: Vec::new(), logits: features, kept: Vec::new() })
    }

    fn loss(&self, output: &Output, batch: &Batch) -> Result<Tensor> {
        self.loss.forward(&output.logits, &batch[1].1)
    }
}

/// A layer of a list; those with weights are modules of their own.
#[derive(Debug)]
enum Layer {
    Conv(Conv2d),
    Norm(BatchNorm2d),
    Dropout(Dropout),
    Linear(Linear),
    /// An operation without weights.
    Operation(Module, CnnLayer),
}

impl Layer {
    /// Creates a layer that reads features of the shape `before`.
    ///
    /// The kind of the layer is the name of a module inside the one of `builder`.
    fn new(builder: &Builder, layer: &CnnLayer, before: Features, layout: Layout) -> Result<Self> {
        let builder = builder.child(layer.name());
        let inputs = match before {
            Features::Image { channels, .. } => channels,
            Features::Vector(features) => features,
        };
        Ok(match *layer {
            CnnLayer::Conv(shape) => Self::Conv(Conv2d::new(&builder, shape, inputs, layout)?),
            CnnLayer::Norm => Self::Norm(BatchNorm2d::new(&builder, inputs.cast_signed())?),
            CnnLayer::Dropout(probability) => Self::Dropout(Dropout::new(&builder, probability)),
            CnnLayer::Linear { features, bias } => {
                Self::Linear(Linear::new(&builder, inputs.cast_signed(), features.cast_signed(), bias)?)
            }
            operation => Self::Operation(builder.module(), operation),
        })
    }

    /// Runs the layer, and drops the input afterwards.
    fn forward(&self, input: Tensor, pass: &Pass) -> Result<Tensor> {
        match self {
            Self::Conv(conv) => conv.forward(&input),
            Self::Norm(norm) => norm.forward(&input, pass),
            Self::Dropout(dropout) => dropout.forward(&input, pass),
            Self::Linear(linear) => linear.forward(&input),
            Self::Operation(module, operation) => module.run(|| operate(*operation, input)),
        }
    }
}

fn operate(operation: CnnLayer, mut input: Tensor) -> Result<Tensor> {
    let pair = |number: u64| [number.cast_signed(); 2];
    match operation {
        CnnLayer::Relu { inplace: true } => input.f_relu_(),
        CnnLayer::Relu { inplace: false } => input.f_relu(),
        CnnLayer::Gelu => input.f_gelu("none"),
        CnnLayer::Sigmoid => input.f_sigmoid(),
        CnnLayer::Tanh => input.f_tanh(),
        CnnLayer::MaxPool(Window { kernel, stride, padding }) => {
            input.f_max_pool2d(pair(kernel), pair(stride), pair(padding), [1, 1], false)
        }
        CnnLayer::AvgPool(Window { kernel, stride, padding }) => {
            input.f_avg_pool2d(pair(kernel), pair(stride), pair(padding), false, true, None)
        }
        CnnLayer::Adaptive { size } => input.f_adaptive_avg_pool2d(pair(size)),
        CnnLayer::Flatten => input.f_flatten(1, -1),
        CnnLayer::Conv(_) | CnnLayer::Norm | CnnLayer::Dropout(_) | CnnLayer::Linear { .. } => {
            unreachable!("a layer with a module of its own")
        }
    }
}
