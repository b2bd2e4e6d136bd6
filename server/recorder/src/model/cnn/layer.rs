//! Layers that a list of layers can contain.

use shared::job::{CnnLayer, Features, Window};
use tch::Tensor;

use super::conv::FreeConv;
use crate::Result;
use crate::builder::Builder;
use crate::model::layer::{BatchNorm2d, Dropout, Layout, Linear};
use crate::pass::Pass;
use crate::place::Module;

/// A layer of a list; those with weights are modules of their own.
#[derive(Debug)]
pub(super) enum Layer {
    Conv(FreeConv),
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
    pub(super) fn new(builder: &Builder, layer: &CnnLayer, before: Features, layout: Layout) -> Result<Self> {
        let builder = builder.child(layer.name());
        let inputs = match before {
            Features::Image { channels, .. } => channels,
            Features::Vector(features) => features,
        };
        Ok(match *layer {
            CnnLayer::Conv(shape) => Self::Conv(FreeConv::new(&builder, shape, inputs, layout)?),
            CnnLayer::Norm => Self::Norm(BatchNorm2d::new(&builder, inputs.cast_signed())?),
            CnnLayer::Dropout(probability) => Self::Dropout(Dropout::new(&builder, probability)),
            CnnLayer::Linear { features, bias } => {
                Self::Linear(Linear::new(&builder, inputs.cast_signed(), features.cast_signed(), bias)?)
            }
            operation => Self::Operation(builder.module(), operation),
        })
    }

    /// Runs the layer, and drops the input afterwards.
    pub(super) fn forward(&self, input: Tensor, pass: &Pass) -> Result<Tensor> {
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
