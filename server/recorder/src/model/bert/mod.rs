//! Masked language models: `BertForMaskedLM` of Hugging Face's transformers 5.

mod embeddings;
mod head;
mod layer;

use shared::job;
use tch::{Device, Kind, Tensor};

use self::embeddings::Embeddings;
use self::head::Head;
use self::layer::Layer;
use super::layer::CrossEntropy;
use super::{Batch, Network, Output};
use crate::Result;
use crate::builder::Builder;
use crate::pass::{Pass, Shared};

#[derive(Debug)]
pub struct Bert {
    embeddings: Embeddings,
    layers: Vec<Shared<Layer>>,
    head: Head,
    loss: CrossEntropy,
    vocabulary: i64,
    sequence: i64,
}

impl Bert {
    /// Builds the model on the builder's device, for samples of `sequence` tokens.
    ///
    /// # Errors
    ///
    /// Returns an error if memory runs out.
    pub fn new(config: &job::Bert, sequence: u64, builder: &Builder) -> Result<Self> {
        let embeddings = Embeddings::new(&builder.child("embedding"), config)?;
        let layers = builder.child("layers");
        let layer = |index: u64| Layer::new(&layers.child(&index.to_string()), config).map(Shared::new);
        let layers = (0..config.layers).map(layer).collect::<Result<_>>()?;
        let head = Head::new(&builder.child("head"), config, embeddings.tokens())?;
        Ok(Self {
            embeddings,
            layers,
            head,
            loss: CrossEntropy::new(&builder.child("cross_entropy")),
            vocabulary: config.vocabulary.cast_signed(),
            sequence: sequence.cast_signed(),
        })
    }

    /// Follows `BertModel.forward`, which keeps the embeddings until it returns.
    fn encode(&self, tokens: &Tensor, pass: &Pass) -> Result<Tensor> {
        let embedded = self.embeddings.forward(tokens, pass)?;
        let mut hidden = embedded.shallow_clone();
        for (index, layer) in self.layers.iter().enumerate() {
            let layer = layer.clone();
            hidden = pass.of_layer(index).layer(&[&hidden], move |tensors, pass| layer.forward(tensors[0], pass))?;
        }
        drop(embedded);
        Ok(hidden)
    }
}

impl Network for Bert {
    fn batch(&self, samples: i64) -> Result<Batch> {
        // Ignored labels take as much memory as others, so there are none.
        let tokens = || Tensor::f_randint(self.vocabulary, [samples, self.sequence], (Kind::Int64, Device::Cpu));
        Ok(vec![("inputs", tokens()?), ("labels", tokens()?)])
    }

    fn forward(&self, batch: &Batch, pass: &Pass) -> Result<Output> {
        let hidden = self.encode(&batch[0].1, pass)?;
        let logits = self.head.forward(&hidden)?;
        Ok(Output { locals: vec![hidden], logits, kept: Vec::new() })
    }

    fn output_holds_loss(&self) -> bool {
        true
    }

    fn loss(&self, output: &Output, batch: &Batch) -> Result<Tensor> {
        self.loss.forward(&output.logits.f_view([-1, self.vocabulary])?, &batch[1].1.f_view([-1])?)
    }
}
