//! Linear layers of GPT-2 and Llama, and the multi-layer perceptron that consists of them.

use shared::job::{self, Transformer, TransformerFamily};
use tch::Tensor;

use crate::Result;
use crate::builder::{Builder, Init};
use crate::model::layer::{Activation, Adapter, Dropout, INITIALIZER_RANGE, Linear};
use crate::pass::{Pass, autocast};
use crate::place::Module;

/// A linear layer of either family, with an optional adapter.
#[derive(Debug)]
pub(super) struct Dense {
    base: Base,
    adapter: Option<Adapter>,
}

#[derive(Debug)]
enum Base {
    /// Llama's `torch.nn.Linear`.
    Linear(Linear),
    /// GPT-2's `Conv1D`.
    Conv1d(Conv1d),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct DenseShape {
    pub(super) inputs: i64,
    pub(super) outputs: i64,
    pub(super) bias: bool,
    /// True if the output is added to the residual stream; GPT-2 initializes such weights with smaller values.
    pub(super) residual: bool,
}

impl Dense {
    pub(super) fn new(builder: &Builder, config: &Transformer, shape: DenseShape) -> Result<Self> {
        let base = match config.family {
            TransformerFamily::Llama => {
                Linear::normal(builder, shape.inputs, shape.outputs, shape.bias, INITIALIZER_RANGE).map(Base::Linear)?
            }
            TransformerFamily::Gpt2 => {
                let residual = INITIALIZER_RANGE / (2.0 * config.layers as f64).sqrt();
                Conv1d::new(builder, shape, if shape.residual { residual } else { INITIALIZER_RANGE })
                    .map(Base::Conv1d)?
            }
        };
        Ok(Self { base, adapter: Adapter::new(builder, shape.inputs, shape.outputs)? })
    }

    pub(super) fn forward(&self, input: &Tensor, pass: &Pass) -> Result<Tensor> {
        let output = match &self.base {
            Base::Linear(linear) => linear.forward(input)?,
            Base::Conv1d(conv1d) => conv1d.forward(input)?,
        };
        match &self.adapter {
            Some(adapter) => adapter.forward(input, output, pass),
            None => Ok(output),
        }
    }
}

/// Hugging Face's `Conv1D`: a linear layer whose weight has the shape (inputs, outputs).
#[derive(Debug)]
struct Conv1d {
    module: Module,
    weight: Tensor,
    bias: Option<Tensor>,
}

impl Conv1d {
    fn new(builder: &Builder, shape: DenseShape, deviation: f64) -> Result<Self> {
        let weight = builder.parameter("weight", &[shape.inputs, shape.outputs], Init::Normal(deviation))?;
        let bias = builder.bias(shape.bias, shape.outputs, Init::Constant(0.0))?;
        Ok(Self { module: builder.module(), weight, bias })
    }

    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.module.run(|| {
            let mut shape = input.size();
            let inputs = shape.pop().unwrap_or_default();
            let rows = input.f_view([-1, inputs])?;
            // Autocast casts the operands of an operation from the last to the first.
            let weight = autocast::weight(&self.weight)?;
            let rows = autocast::activation(&rows)?;
            let bias = self.bias.as_ref().map(autocast::weight).transpose()?;
            let output = match &bias {
                Some(bias) => bias.f_addmm(&rows, &weight)?,
                None => rows.f_mm(&weight)?,
            };
            shape.push(self.weight.size()[1]);
            output.f_view(&shape[..])
        })
    }
}

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
