//! Encoder layer: attention and a feed-forward network, each after a norm and added to the residual stream.

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

/// `ViTLayer`.
#[derive(Debug)]
pub(super) struct Layer {
    block: Block,
    attention: SelfAttention,
    attention_norm: Norm,
    mlp_norm: Norm,
    mlp: Mlp,
    dropout: Dropout,
}

/// `ViTMLP`.
#[derive(Debug)]
struct Mlp {
    module: Module,
    up: Linear,
    activation: Activation,
    down: Linear,
}

impl Layer {
    pub(super) fn new(builder: &Builder, config: &job::Encoder, qkv_bias: bool) -> Result<Self> {
        let (builder, block) = builder.block();
        let hidden = config.hidden.cast_signed();
        let norm = |name| Norm::new(&builder.child(name), job::Norm::LayerNorm(config.norm_epsilon), hidden);
        Ok(Self {
            block,
            attention: attention(&builder.child("attention"), config, qkv_bias)?,
            attention_norm: norm("attention_norm")?,
            mlp_norm: norm("mlp_norm")?,
            mlp: Mlp::new(&builder.child("mlp"), config)?,
            dropout: Dropout::new(&builder.child("dropout"), config.residual_dropout),
        })
    }

    pub(super) fn forward(&self, input: &Tensor, pass: &Pass) -> Result<Tensor> {
        self.block.run(input, |input| {
            let normed = self.attention_norm.forward(input)?;
            let Attended { output: mut hidden, probabilities } = self.attention.forward(&normed, pass)?;
            drop(normed);
            hidden = self.dropout.forward(&hidden, pass)?;
            hidden = hidden.f_add(input)?;
            let residual = hidden;
            let normed = self.mlp_norm.forward(&residual)?;
            hidden = self.mlp.forward(&normed)?;
            drop(normed);
            hidden = self.dropout.forward(&hidden, pass)?;
            hidden = hidden.f_add(&residual)?;
            drop((residual, probabilities));
            Ok(hidden)
        })
    }
}

fn attention(builder: &Builder, config: &job::Encoder, qkv_bias: bool) -> Result<SelfAttention> {
    let hidden = config.hidden.cast_signed();
    let linear = |name, bias| Linear::normal(&builder.child(name), hidden, hidden, bias, INITIALIZER_RANGE);
    let projections = [linear("q", qkv_bias)?, linear("k", qkv_bias)?, linear("v", qkv_bias)?];
    let out = linear("out", true)?;
    let kernel = AttentionKernel::vit(config);
    Ok(SelfAttention::new(builder, projections, Some(out), kernel, config.head_dim()))
}

impl Mlp {
    fn new(builder: &Builder, config: &job::Encoder) -> Result<Self> {
        let (hidden, inner) = (config.hidden.cast_signed(), config.intermediate.cast_signed());
        Ok(Self {
            module: builder.module(),
            up: Linear::normal(&builder.child("up"), hidden, inner, true, INITIALIZER_RANGE)?,
            activation: Activation::new(&builder.child("activation"), config.activation),
            down: Linear::normal(&builder.child("down"), inner, hidden, true, INITIALIZER_RANGE)?,
        })
    }

    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.module.run(|| {
            let inner = self.activation.forward(self.up.forward(input)?)?;
            self.down.forward(&inner)
        })
    }
}
