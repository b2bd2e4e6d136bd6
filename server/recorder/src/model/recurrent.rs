//! Recurrent language models: an embedding, LSTM or GRU layers, and a head.

use std::cell::RefCell;

use shared::job::{self, CarryHidden, RecurrentCell};
use tch::{Kind, Tensor};

use super::layer::{CrossEntropy, Dropout, Embedding, Linear};
use super::network::tokens;
use super::{Batch, Network, Output};
use crate::Result;
use crate::builder::{Builder, Init};
use crate::pass::Pass;
use crate::place::Module;

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
        tokens(self.vocabulary, [samples, self.sequence])
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

/// Tensors of a layer: the weights of its input and of its state, and a bias for each.
const WEIGHTS_OF_A_LAYER: i64 = 4;

/// All recurrent layers; PyTorch has them in one module, and cuDNN computes them together.
#[derive(Debug)]
struct Cells {
    module: Module,
    cell: RecurrentCell,
    weights: Vec<Tensor>,
    layers: i64,
    hidden: i64,
    dropout: f64,
}

impl Cells {
    fn new(builder: &Builder, config: &job::Rnn) -> Result<Self> {
        let (layers, hidden) = (config.layers.cast_signed(), config.hidden.cast_signed());
        let bound = Init::Uniform(1.0 / (hidden as f64).sqrt());
        let outputs = config.cell.gates().cast_signed() * hidden;
        let mut inputs = config.embedding.cast_signed();
        let mut weights = Vec::new();
        for layer in 0..layers {
            weights.push(builder.parameter(&format!("weight_ih_l{layer}"), &[outputs, inputs], bound)?);
            weights.push(builder.parameter(&format!("weight_hh_l{layer}"), &[outputs, hidden], bound)?);
            weights.push(builder.parameter(&format!("bias_ih_l{layer}"), &[outputs], bound)?);
            weights.push(builder.parameter(&format!("bias_hh_l{layer}"), &[outputs], bound)?);
            inputs = hidden;
        }
        let module = builder.module();
        let cells = Self { module, cell: config.cell, weights, layers, hidden, dropout: config.dropout };
        cells.flatten(config.embedding.cast_signed())?;
        Ok(cells)
    }

    /// Moves the weights into one buffer, if cuDNN supports their dtype: `flatten_parameters`.
    fn flatten(&self, inputs: i64) -> Result<()> {
        if !matches!(self.weights[0].kind(), Kind::Float | Kind::Half | Kind::Double) {
            return Ok(());
        }
        let flatten = || {
            Tensor::f_internal_cudnn_rnn_flatten_weight(
                &self.weights,
                WEIGHTS_OF_A_LAYER,
                inputs,
                self.mode(),
                self.hidden,
                0,
                self.layers,
                true,
                false,
            )
        };
        // The weights are views of the buffer and keep it alive.
        self.module.run(|| tch::no_grad(flatten)).map(drop)
    }

    /// Returns cuDNN's number of the kind of cells.
    const fn mode(&self) -> i64 {
        match self.cell {
            RecurrentCell::Lstm => 2,
            RecurrentCell::Gru => 3,
        }
    }

    /// Returns the features of each token, and the final state: the hidden state, then the cell state of an LSTM.
    ///
    /// Without an initial state it starts at zeros.
    fn forward(&self, input: &Tensor, state: Option<Vec<Tensor>>, pass: &Pass) -> Result<(Tensor, Vec<Tensor>)> {
        self.module.run(|| {
            let state = state.map_or_else(|| self.zeros(input), Ok)?;
            let (weights, train) = (&self.weights, pass.training);
            match self.cell {
                RecurrentCell::Lstm => {
                    let (output, hidden, cells) =
                        input.f_lstm(&state, weights, true, self.layers, self.dropout, train, false, true)?;
                    Ok((output, vec![hidden, cells]))
                }
                RecurrentCell::Gru => {
                    let (output, hidden) =
                        input.f_gru(&state[0], weights, true, self.layers, self.dropout, train, false, true)?;
                    Ok((output, vec![hidden]))
                }
            }
        })
    }

    fn zeros(&self, input: &Tensor) -> Result<Vec<Tensor>> {
        let states = match self.cell {
            RecurrentCell::Lstm => 2,
            RecurrentCell::Gru => 1,
        };
        let shape = [self.layers, input.size()[0], self.hidden];
        (0..states).map(|_| Tensor::f_zeros(shape, (input.kind(), input.device()))).collect()
    }
}
