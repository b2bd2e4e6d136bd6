//! Computes a language model's head and loss for one chunk of the sequence after the other.
//!
//! This is torchtune's `LinearCrossEntropyLoss` with each chunk under `torch.utils.checkpoint`: without checkpoints (or
//! a compiler), backward would need the logits of all chunks at once.

use shared::job::Job;
use tch::{Kind, Reduction, Tensor};

use crate::Result;
use crate::numbers::Numbers as _;
use crate::pass::Pass;
use crate::place::Module;

/// Label of tokens without a prediction: the one after the last token.
pub(super) const IGNORED: i64 = -100;

/// Loss of a model, computed in chunks of the sequence.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChunkedLoss {
    module: Module,
    chunks: i64,
    /// Pass of a chunk, which backward recomputes.
    pass: Pass,
}

impl ChunkedLoss {
    /// Returns the chunks of a job, if it has any; `module` is that of the loss.
    pub(super) fn new(job: &Job, module: Module) -> Option<Self> {
        let chunks = job.saving.loss_chunks?.cast_signed();
        Some(Self { module, chunks, pass: Pass::of_training(job) })
    }

    /// Computes the mean loss of hidden states (samples, tokens, features); each predicts the label of the next token.
    pub(super) fn causal<H>(self, hidden: &Tensor, labels: &Tensor, head: H) -> Result<Tensor>
    where
        H: Fn(&Tensor) -> Result<Tensor> + Clone + Send + 'static,
    {
        self.module.run(|| self.mean(hidden, labels, head))
    }

    fn mean<H>(self, hidden: &Tensor, labels: &Tensor, head: H) -> Result<Tensor>
    where
        H: Fn(&Tensor) -> Result<Tensor> + Clone + Send + 'static,
    {
        let padded = labels.f_pad([0, 1], "constant", IGNORED as f64)?;
        let targets = padded.f_slice(-1, 1, None, 1)?.f_contiguous()?;
        let counted = targets.not_equal_number(IGNORED)?;
        let count = counted.f_sum(None::<Kind>)?;
        let hidden_chunks = hidden.f_tensor_split(self.chunks, 1)?;
        let target_chunks = targets.f_tensor_split(self.chunks, 1)?;
        let mut total: Option<Tensor> = None;
        for (hidden, targets) in hidden_chunks.iter().zip(&target_chunks) {
            let (module, head) = (self.module, head.clone());
            let loss = self.pass.again(&[hidden, targets], move |tensors, _| module.run(|| sum(tensors, &head)))?;
            match &mut total {
                // Python's sum begins with the number 0.
                None => total = Some(loss.add_number(0.0)?),
                Some(total) => drop(total.f_add_(&loss)?),
            }
        }
        let mean = total.as_ref().map_or_else(|| hidden.f_sum(None::<Kind>), |total| total.f_div(&count));
        drop((padded, targets, counted));
        drop((hidden_chunks, target_chunks));
        mean
    }
}

/// Computes the sum of the losses of a chunk.
fn sum(tensors: &[&Tensor], head: &impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let &[hidden, targets] = tensors else { unreachable!("a chunk is hidden states and their labels") };
    let logits = head(hidden)?;
    let vocabulary = logits.size().last().copied().unwrap_or_default();
    let flat = logits.f_to_kind(Kind::Float)?.f_reshape([-1, vocabulary])?;
    let labels = targets.f_reshape([-1])?;
    let loss = flat.f_cross_entropy_loss(&labels, None::<&Tensor>, Reduction::Sum, IGNORED, 0.0)?;
    drop((flat, labels));
    drop(logits);
    Ok(loss)
}
