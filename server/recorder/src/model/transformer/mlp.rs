//! The feed-forward network of a decoder layer.

use std::f64::consts::PI;

use shared::job::{self, Activation};
use tch::Tensor;

use super::dense::{Dense, DenseShape};
use crate::Result;
use crate::builder::Builder;
use crate::model::layer::Dropout;
use crate::numbers::Numbers as _;
use crate::pass::Pass;
use crate::place::Module;

/// Features to more features and back, token by token.
#[derive(Debug)]
pub(super) struct Mlp {
    module: Module,
    gate: Option<Dense>,
    up: Dense,
    activation: Activation,
    activation_module: Module,
    down: Dense,
    dropout: Dropout,
}

impl Mlp {
    /// The network of one layer; `builder` is its own.
    pub(super) fn new(builder: &Builder, config: &job::Transformer) -> Result<Self> {
        let (hidden, inner) = (config.hidden.cast_signed(), config.intermediate.cast_signed());
        let dense = |name, [inputs, outputs]: [i64; 2]| {
            let shape = DenseShape { inputs, outputs, bias: config.mlp_bias, residual: name == "down" };
            Dense::new(&builder.child(name), config, shape)
        };
        let gated = config.activation == Activation::SwiGlu;
        Ok(Self {
            module: builder.module(),
            gate: if gated { Some(dense("gate", [hidden, inner])?) } else { None },
            up: dense("up", [hidden, inner])?,
            activation: config.activation,
            activation_module: builder.child("activation").module(),
            down: dense("down", [inner, hidden])?,
            dropout: Dropout::new(&builder.child("dropout"), config.dropout.residual),
        })
    }

    pub(super) fn forward(&self, input: &Tensor, pass: &Pass) -> Result<Tensor> {
        self.module.run(|| {
            let inner = match &self.gate {
                Some(gate) => self.gated(gate, input)?,
                None => self.activated(self.up.forward(input)?)?,
            };
            let output = self.down.forward(&inner)?;
            drop(inner);
            self.dropout.forward(&output, pass)
        })
    }

    /// `act_fn(gate_proj(x)) * up_proj(x)`.
    fn gated(&self, gate: &Dense, input: &Tensor) -> Result<Tensor> {
        let gate = self.activated(gate.forward(input)?)?;
        let up = self.up.forward(input)?;
        gate.f_mul(&up)
    }

    fn activated(&self, input: Tensor) -> Result<Tensor> {
        self.activation_module.run(|| match self.activation {
            Activation::GeluNew => gelu_new(&input),
            Activation::Gelu => input.f_gelu("none"),
            Activation::GeluTanh => input.f_gelu("tanh"),
            Activation::Relu => input.f_relu(),
            Activation::SwiGlu => input.f_silu(),
        })
    }
}

/// `NewGELUActivation`: `0.5 * x * (1.0 + tanh(sqrt(2.0 / pi) * (x + 0.044715 * pow(x, 3.0))))`, from left to right.
fn gelu_new(input: &Tensor) -> Result<Tensor> {
    let half = input.multiply_number(0.5)?;
    let mut inner = input.power_number(3.0)?;
    inner = inner.multiply_number(0.044_715)?;
    inner = input.f_add(&inner)?;
    inner = inner.multiply_number((2.0 / PI).sqrt())?;
    inner = inner.f_tanh()?;
    inner = inner.add_number(1.0)?;
    let output = half.f_mul(&inner)?;
    drop(half);
    Ok(output)
}
