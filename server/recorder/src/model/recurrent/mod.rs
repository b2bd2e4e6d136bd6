//! Recurrent language models: an embedding, LSTM or GRU layers, and a head.

mod cells;

use std::cell::RefCell;

use shared::job::{self, CarryHidden};
use tch::{Device, Kind, Tensor};

use self::cells::Cells;
use super::layer::{CrossEntropy, Dropout, Embedding, Linear};
use super::{Batch, Network, Output};
use crate::Result;
use crate::builder::Builder;
use crate::pass::Pass;

/// Standard deviation of new rows of `torch.nn.Embedding`.
const DEVIATION: f64 = 1.0;

#[derive(Debug)]
pub struct Rnn {
    embedding: Embedding,
    dropout: Dropout,
    cells: Cells,
    head: Linear,
    loss: CrossEntropy,
    vocabulary: i64,
    sequence: i64,
    carries: bool,
    /// Final state of the last training batch, if the next batch starts with it.
    state: RefCell<Option<Vec<Tensor>>>,
}

impl Rnn {
    /// Builds the model on the builder's device, for samples of `sequence` tokens.
    ///
    /// # Errors
    ///
    /// Returns an error if memory runs out.
    pub fn new(config: &job::Rnn, sequence: u64, builder: &Builder) -> Result<Self> {
        let (vocabulary, hidden) = (config.vocabulary.cast_signed(), config.hidden.cast_signed());
        let features = config.embedding.cast_signed();
        let embedding = Embedding::new(&builder.child("embedding"), vocabulary, features, DEVIATION)?;
        let cells = Cells::new(&builder.child("rnn"), config)?;
        let head = builder.child("head");
        let head = if config.tied_head {
            Linear::tied_with_bias(&head, embedding.weight())?
        } else {
            Linear::new(&head, hidden, vocabulary, true)?
        };
        Ok(Self {
            embedding,
            dropout: Dropout::new(&builder.child("dropout"), config.dropout),
            cells,
            head,
            loss: CrossEntropy::new(&builder.child("cross_entropy")),
            vocabulary,
            sequence: sequence.cast_signed(),
            carries: config.carry_hidden == CarryHidden::Detach,
            state: RefCell::new(None),
        })
    }

    /// Returns the initial state of a batch; `None` means zeros, as in evaluations and the first batch.
    fn carried(&self, pass: &Pass) -> Option<Vec<Tensor>> {
        let state = self.state.borrow();
        let state = state.as_ref().filter(|_| pass.training)?;
        Some(state.iter().map(Tensor::shallow_clone).collect())
    }

    /// Keeps the final state of a training batch, without its graph.
    fn carry(&self, state: &[Tensor], pass: &Pass) -> Result<()> {
        if self.carries && pass.training {
            let carried = state.iter().map(Tensor::f_detach).collect::<Result<_>>()?;
            *self.state.borrow_mut() = Some(carried);
        }
        Ok(())
    }
}

impl Network for Rnn {
    fn batch(&self, samples: i64) -> Result<Batch> {
        let tokens = || Tensor::f_randint(self.vocabulary, [samples, self.sequence], (Kind::Int64, Device::Cpu));
        Ok(vec![("inputs", tokens()?), ("labels", tokens()?)])
    }

    fn forward(&self, batch: &Batch, pass: &Pass) -> Result<Output> {
        let embedded = self.dropout.forward(&self.embedding.forward(&batch[0].1)?, pass)?;
        let (features, state) = self.cells.forward(&embedded, self.carried(pass), pass)?;
        drop(embedded);
        self.carry(&state, pass)?;
        let logits = self.head.forward(&self.dropout.forward(&features, pass)?)?;
        drop(features);
        // Python frees the last element of a tuple first.
        state.into_iter().rev().for_each(drop);
        Ok(Output { locals: Vec::new(), logits, kept: Vec::new() })
    }

    fn loss(&self, output: &Output, batch: &Batch) -> Result<Tensor> {
        self.loss.forward(&output.logits.f_view([-1, self.vocabulary])?, &batch[1].1.f_view([-1])?)
    }
}
