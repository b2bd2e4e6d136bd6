//! Multi-layer perceptrons: linear layers with an activation between them, as in `torch.nn.Sequential`.

use shared::job::{self, MlpActivation};
use tch::{Kind, Tensor};

use super::layer::{CrossEntropy, Dropout, Linear};
use super::{Batch, Network, Output};
use crate::Result;
use crate::builder::Builder;
use crate::pass::Pass;
use crate::place::Module;

#[derive(Debug)]
pub struct Mlp {
    layers: Vec<Hidden>,
    head: Linear,
    loss: CrossEntropy,
    kind: Kind,
    inputs: i64,
    classes: i64,
    activation: MlpActivation,
}

#[derive(Debug)]
struct Hidden {
    linear: Linear,
    activation: Module,
    dropout: Option<Dropout>,
}

impl Mlp {
    /// Builds the model on the builder's device.
    pub fn new(config: &job::Mlp, builder: &Builder) -> Result<Self> {
        let inputs = config.input_features.cast_signed();
        let mut features = inputs;
        let mut layers = Vec::new();
        for (index, &hidden) in config.hidden_features.iter().enumerate() {
            let layer = builder.child("layers").child(&index.to_string());
            let linear = Linear::new(&layer.child("linear"), features, hidden.cast_signed(), config.bias)?;
            let dropout = (config.dropout > 0.0).then(|| Dropout::new(&layer.child("dropout"), config.dropout));
            layers.push(Hidden { linear, activation: layer.child("activation").module(), dropout });
            features = hidden.cast_signed();
        }
        let classes = config.classes.cast_signed();
        let head = Linear::new(&builder.child("head"), features, classes, config.bias)?;
        let loss = CrossEntropy::new(&builder.child("cross_entropy"));
        Ok(Self { layers, head, loss, kind: builder.kind, inputs, classes, activation: config.activation })
    }

    fn activate(&self, input: &Tensor) -> Result<Tensor> {
        match self.activation {
            MlpActivation::Relu => input.f_relu(),
            MlpActivation::Gelu => input.f_gelu("none"),
            MlpActivation::Tanh => input.f_tanh(),
        }
    }
}

impl Network for Mlp {
    fn batch(&self, samples: i64) -> Result<Batch> {
        let inputs = Tensor::f_randn([samples, self.inputs], (self.kind, tch::Device::Cpu))?;
        let labels = Tensor::f_randint(self.classes, [samples], (Kind::Int64, tch::Device::Cpu))?;
        Ok(vec![("inputs", inputs), ("labels", labels)])
    }

    fn forward(&self, batch: &Batch, pass: &Pass) -> Result<Output> {
        let mut features = batch[0].1.shallow_clone();
        for layer in &self.layers {
            features = layer.linear.forward(&features)?;
            features = layer.activation.run(|| self.activate(&features))?;
            if let Some(dropout) = &layer.dropout {
                features = dropout.forward(&features, pass)?;
            }
        }
        Ok(Output { locals: Vec::new(), logits: self.head.forward(&features)?, kept: Vec::new() })
    }

    fn loss(&self, output: &Output, batch: &Batch) -> Result<Tensor> {
        self.loss.forward(&output.logits, &batch[1].1)
    }
}
