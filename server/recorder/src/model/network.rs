//! What a model is to those who run it.

use tch::{Device, Kind, Tensor};

use crate::Result;
use crate::pass::Pass;

/// Tensors of a batch by name, in host memory or on the device.
pub type Batch = Vec<(&'static str, Tensor)>;

/// Returns random tokens and labels in host memory, of shape (samples, tokens).
pub(super) fn tokens(vocabulary: i64, shape: [i64; 2]) -> Result<Batch> {
    let random = || Tensor::f_randint(vocabulary, shape, (Kind::Int64, Device::Cpu));
    Ok(vec![("inputs", random()?), ("labels", random()?)])
}

/// Result of a forward pass; its fields are freed in their order, which is Python's.
#[derive(Debug)]
pub struct Output {
    /// Variables that live until the loss is computed, because Hugging Face's models compute it before they return.
    ///
    /// Afterwards the undivided loss with gradient accumulation, if the output object holds it.
    pub locals: Vec<Tensor>,
    /// Tensor that the loss is computed from.
    pub logits: Tensor,
    /// Further tensors of Python's output object, such as a key-value cache.
    pub kept: Vec<Tensor>,
}

/// A model with its data and its loss.
pub trait Network {
    /// Returns random samples in host memory.
    fn batch(&self, samples: i64) -> Result<Batch>;

    /// Runs the forward pass; each layer runs in its module.
    fn forward(&self, batch: &Batch, pass: &Pass) -> Result<Output>;

    /// Computes the loss of an output, a scalar.
    fn loss(&self, output: &Output, batch: &Batch) -> Result<Tensor>;

    /// Returns the loss that the caller gets; a wrapper may replace it and the logits by copies.
    fn hand_on(&self, _output: &mut Output, loss: Tensor) -> Result<Tensor> {
        Ok(loss)
    }

    /// Returns true if Python's output object holds the loss, as that of Hugging Face does.
    fn output_holds_loss(&self) -> bool {
        false
    }
}
