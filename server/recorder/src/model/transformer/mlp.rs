//! Multi-layer perceptron of a decoder layer.

use shared::job;
use tch::Tensor;

use super::dense::{Dense, DenseShape};
use crate::Result;
use crate::builder::Builder;
use crate::model::layer::{Activation, Dropout};
use crate::pass::Pass;
use crate::place::Module;

/// Projections of the features of each token to more features and back.
#[derive(Debug)]
pub(super) struct Mlp {
    module: Module,
    gate: Option<Dense>,
    up: Dense,
    activation: Activation,
    down: Dense,
    dropout: Dropout,
}

impl Mlp {
    pub(super) fn new(builder: &Builder, config: &job::Transformer) -> Result<Self> {
        let (hidden, inner) = (config.hidden.cast_signed(), config.intermediate.cast_signed());
        let dense = |name, [inputs, outputs]: [i64; 2]| {
            let shape = DenseShape { inputs, outputs, bias: config.mlp_bias, residual: name == "down" };
            Dense::new(&builder.child(name), config, shape)
        };
        let gated = config.activation == job::Activation::SwiGlu;
        Ok(Self {
            module: builder.module(),
            gate: if gated { Some(dense("gate", [hidden, inner])?) } else { None },
            up: dense("up", [hidden, inner])?,
            activation: Activation::new(&builder.child("activation"), config.activation),
            down: dense("down", [inner, hidden])?,
            dropout: Dropout::new(&builder.child("dropout"), config.dropout.residual),
        })
    }

    pub(super) fn forward(&self, input: &Tensor, pass: &Pass) -> Result<Tensor> {
        self.module.run(|| {
            let inner = match &self.gate {
                Some(gate) => self.gated(gate, input, pass)?,
                None => self.activation.forward(self.up.forward(input, pass)?)?,
            };
            let output = self.down.forward(&inner, pass)?;
            drop(inner);
            self.dropout.forward(&output, pass)
        })
    }

    /// Computes `act_fn(gate_proj(x)) * up_proj(x)`.
    fn gated(&self, gate: &Dense, input: &Tensor, pass: &Pass) -> Result<Tensor> {
        let gate = self.activation.forward(gate.forward(input, pass)?)?;
        let up = self.up.forward(input, pass)?;
        gate.f_mul(&up)
    }
}
