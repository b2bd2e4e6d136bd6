//! Vision transformers: `ViTForImageClassification` of Hugging Face's transformers 5.

mod embeddings;
mod layer;

use shared::job;
use tch::{Device, Kind, Tensor};

use self::embeddings::{COLOURS, Embeddings};
use self::layer::Layer;
use super::layer::{CrossEntropy, Linear, Norm};
use super::{Batch, Network, Output};
use crate::Result;
use crate::builder::Builder;
use crate::model::layer::INITIALIZER_RANGE;
use crate::pass::{Pass, Shared};

/// A vision transformer that runs on images.
#[derive(Debug)]
pub struct Vit {
    embeddings: Embeddings,
    layers: Vec<Shared<Layer>>,
    norm: Norm,
    classifier: Linear,
    loss: CrossEntropy,
    /// Height and width of the images, in pixels.
    image_size: i64,
    classes: i64,
    kind: Kind,
}

impl Vit {
    /// Builds the model on the builder's device.
    ///
    /// # Errors
    ///
    /// Returns an error if memory runs out.
    pub fn new(config: &job::Vit, builder: &Builder) -> Result<Self> {
        let encoder = &config.encoder;
        let (hidden, classes) = (encoder.hidden.cast_signed(), config.classes.cast_signed());
        let embeddings = Embeddings::new(&builder.child("embedding"), config)?;
        let layers = builder.child("layers");
        let layer =
            |index: u64| Layer::new(&layers.child(&index.to_string()), encoder, config.qkv_bias).map(Shared::new);
        Ok(Self {
            embeddings,
            layers: (0..encoder.layers).map(layer).collect::<Result<_>>()?,
            norm: Norm::new(&builder.child("norm"), job::Norm::LayerNorm(encoder.norm_epsilon), hidden)?,
            classifier: Linear::normal(&builder.child("classifier"), hidden, classes, true, INITIALIZER_RANGE)?,
            loss: CrossEntropy::new(&builder.child("cross_entropy")),
            image_size: config.image_size.cast_signed(),
            classes,
            kind: builder.kind(),
        })
    }

    /// Follows `ViTModel.forward`, which keeps the first layer's input and the last layer's output until it returns.
    fn encode(&self, images: &Tensor, pass: &Pass) -> Result<Tensor> {
        let embedded = self.embeddings.forward(images, pass)?;
        let mut hidden = embedded.shallow_clone();
        for (index, layer) in self.layers.iter().enumerate() {
            let layer = layer.clone();
            hidden = pass.of_layer(index).layer(&[&hidden], move |tensors, pass| layer.forward(tensors[0], pass))?;
        }
        let output = self.norm.forward(&hidden)?;
        drop((embedded, hidden));
        Ok(output)
    }
}

impl Network for Vit {
    fn batch(&self, samples: i64) -> Result<Batch> {
        // Black images take as much memory as others and are the cheapest to create.
        let images = Tensor::f_zeros([samples, COLOURS, self.image_size, self.image_size], (self.kind, Device::Cpu))?;
        let labels = Tensor::f_randint(self.classes, [samples], (Kind::Int64, Device::Cpu))?;
        Ok(vec![("images", images), ("labels", labels)])
    }

    fn forward(&self, batch: &Batch, pass: &Pass) -> Result<Output> {
        let hidden = self.encode(&batch[0].1, pass)?;
        let logits = self.classifier.forward(&hidden.f_select(1, 0)?)?;
        Ok(Output { locals: vec![hidden], logits, kept: Vec::new() })
    }

    fn output_holds_loss(&self) -> bool {
        true
    }

    fn loss(&self, output: &Output, batch: &Batch) -> Result<Tensor> {
        self.loss.forward(&output.logits, &batch[1].1)
    }
}
