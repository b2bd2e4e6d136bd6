//! Recurrent layers: `torch.nn.LSTM` and `torch.nn.GRU` with `batch_first=True`.

use shared::job::{RecurrentCell, Rnn};
use tch::{Kind, Tensor};

use crate::Result;
use crate::builder::{Builder, Init};
use crate::pass::Pass;
use crate::place::Module;

/// Tensors of a layer: the weights of its input and of its state, and a bias for each.
const WEIGHTS_OF_A_LAYER: i64 = 4;

/// All recurrent layers; PyTorch has them in one module, and cuDNN computes them together.
#[derive(Debug)]
pub(super) struct Cells {
    module: Module,
    cell: RecurrentCell,
    weights: Vec<Tensor>,
    layers: i64,
    hidden: i64,
    dropout: f64,
}

impl Cells {
    pub(super) fn new(builder: &Builder, config: &Rnn) -> Result<Self> {
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
    pub(super) fn forward(
        &self,
        input: &Tensor,
        state: Option<Vec<Tensor>>,
        pass: &Pass,
    ) -> Result<(Tensor, Vec<Tensor>)> {
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
