//! Convolutional networks as a list of layers: `torch.nn.Sequential`.

mod conv;
mod layer;

use shared::job;
use tch::{Device, Kind, Tensor};

use self::layer::Layer;
use super::layer::{CrossEntropy, Layout};
use super::{Batch, Network, Output};
use crate::Result;
use crate::builder::Builder;
use crate::pass::Pass;

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
    ///
    /// # Errors
    ///
    /// Returns an error if memory runs out.
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
            kind: builder.kind(),
        })
    }
}

impl Network for Cnn {
    fn batch(&self, samples: i64) -> Result<Batch> {
        let [channels, height, width] = self.image;
        // Black images take as much memory as others and are the cheapest to create.
        let images = Tensor::f_zeros([samples, channels, height, width], (self.kind, Device::Cpu))?;
        self.layout.apply(&images)?;
        let labels = Tensor::f_randint(self.classes, [samples], (Kind::Int64, Device::Cpu))?;
        Ok(vec![("images", images), ("labels", labels)])
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
