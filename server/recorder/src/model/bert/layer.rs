//! Encoder layer: attention and a feed-forward network, each followed by a norm.

use shared::job;
use tch::Tensor;

use crate::Result;
use crate::builder::Builder;
use crate::model::layer::{
    Activation, Attended, AttentionKernel, Dropout, INITIALIZER_RANGE, Linear, Norm, SelfAttention,
};
use crate::parallel::fsdp::Block;
use crate::pass::Pass;
use crate::place::Module;

/// `BertLayer`.
#[derive(Debug)]
pub(super) struct Layer {
    block: Block,
    attention: SelfAttention,
    attention_output: Residual,
    up: Linear,
    activation: Activation,
    output: Residual,
}

/// `BertSelfOutput` or `BertOutput`: a linear layer, the addition to the residual stream, and a norm.
#[derive(Debug)]
struct Residual {
    module: Module,
    dense: Linear,
    norm: Norm,
    dropout: Dropout,
}

impl Layer {
    pub(super) fn new(builder: &Builder, config: &job::Bert) -> Result<Self> {
        let (builder, block) = builder.block();
        let (hidden, inner) = (config.hidden.cast_signed(), config.intermediate.cast_signed());
        let attention = builder.child("attention");
        let projection = |name| Linear::normal(&attention.child(name), hidden, hidden, true, INITIALIZER_RANGE);
        let projections = [projection("query")?, projection("key")?, projection("value")?];
        let kernel = AttentionKernel::bert(config);
        let feed_forward = builder.child("mlp");
        Ok(Self {
            block,
            attention: SelfAttention::new(&attention, projections, kernel, config.head_dim()),
            attention_output: Residual::new(&attention.child("output"), config, config.hidden)?,
            up: Linear::normal(&feed_forward.child("up"), hidden, inner, true, INITIALIZER_RANGE)?,
            activation: Activation::new(&feed_forward.child("activation"), config.activation),
            output: Residual::new(&feed_forward.child("output"), config, config.intermediate)?,
        })
    }

    pub(super) fn forward(&self, input: &Tensor, pass: &Pass) -> Result<Tensor> {
        self.block.run(input, |input| {
            let Attended { output: attended, probabilities } = self.attention.forward(input, pass)?;
            let residual = self.attention_output.forward(&attended, input, pass)?;
            drop(attended);
            let inner = self.activation.forward(self.up.forward(&residual)?)?;
            let output = self.output.forward(&inner, &residual, pass)?;
            drop(inner);
            drop((probabilities, residual));
            Ok(output)
        })
    }
}

impl Residual {
    fn new(builder: &Builder, config: &job::Bert, inputs: u64) -> Result<Self> {
        let hidden = config.hidden.cast_signed();
        Ok(Self {
            module: builder.module(),
            dense: Linear::normal(&builder.child("dense"), inputs.cast_signed(), hidden, true, INITIALIZER_RANGE)?,
            norm: Norm::new(&builder.child("norm"), job::Norm::LayerNorm(config.norm_epsilon), hidden)?,
            dropout: Dropout::new(&builder.child("dropout"), config.residual_dropout),
        })
    }

    fn forward(&self, input: &Tensor, residual: &Tensor, pass: &Pass) -> Result<Tensor> {
        self.module.run(|| {
            let mut hidden = self.dense.forward(input)?;
            hidden = self.dropout.forward(&hidden, pass)?;
            let sum = hidden.f_add(residual)?;
            let output = self.norm.forward(&sum)?;
            drop(sum);
            drop(hidden);
            Ok(output)
        })
    }
}
