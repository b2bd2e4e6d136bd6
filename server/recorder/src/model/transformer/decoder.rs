//! Decoder layer: attention and a feed-forward network, each added to the residual stream.

use shared::job::{self, TransformerFamily};
use tch::Tensor;

use super::attention::{Attention, Cache};
use super::dense::Mlp;
use super::positions::Surroundings;
use crate::Result;
use crate::builder::Builder;
use crate::model::layer::{Attended, Norm};
use crate::parallel::fsdp::Block;
use crate::pass::Pass;

/// A decoder layer of GPT-2 or Llama.
#[derive(Debug)]
pub(super) struct Decoder {
    block: Block,
    family: TransformerFamily,
    attention_norm: Norm,
    attention: Attention,
    mlp_norm: Norm,
    mlp: Mlp,
}

impl Decoder {
    /// Creates a layer, with the parameters in the order of the family.
    pub(super) fn new(builder: &Builder, config: &job::Transformer) -> Result<Self> {
        let (builder, block) = builder.block();
        let family = config.family;
        let norm = |name| Norm::new(&builder.child(name), config.norm, config.hidden.cast_signed());
        let attention = || Attention::new(&builder.child("attention"), config);
        let mlp = || Mlp::new(&builder.child("mlp"), config);
        // Struct expressions evaluate their fields in the order in which they are written.
        match family {
            TransformerFamily::Gpt2 => Ok(Self {
                block,
                family,
                attention_norm: norm("attention_norm")?,
                attention: attention()?,
                mlp_norm: norm("mlp_norm")?,
                mlp: mlp()?,
            }),
            TransformerFamily::Llama => Ok(Self {
                block,
                family,
                attention: attention()?,
                mlp: mlp()?,
                attention_norm: norm("attention_norm")?,
                mlp_norm: norm("mlp_norm")?,
            }),
        }
    }

    pub(super) fn forward(
        &self,
        input: &Tensor,
        surroundings: Surroundings<'_>,
        cache: Option<&mut Cache>,
        pass: &Pass,
    ) -> Result<Tensor> {
        self.block.run(input, |input| {
            let normed = self.attention_norm.forward(input)?;
            let Attended { output: attended, probabilities } =
                self.attention.forward(&normed, surroundings, cache, pass)?;
            match self.family {
                // `GPT2Block.forward`, whose variables hold the addends until it returns.
                TransformerFamily::Gpt2 => {
                    let residual = attended.f_add(input)?;
                    drop(normed);
                    let normed = self.mlp_norm.forward(&residual)?;
                    let fed = self.mlp.forward(&normed, pass)?;
                    let output = residual.f_add(&fed)?;
                    drop(normed);
                    drop((residual, attended, probabilities, fed));
                    Ok(output)
                }
                // `LlamaDecoderLayer.forward`, in which one variable holds each intermediate result in turn.
                TransformerFamily::Llama => {
                    drop(normed);
                    let residual = input.f_add(&attended)?;
                    drop(attended);
                    let normed = self.mlp_norm.forward(&residual)?;
                    let fed = self.mlp.forward(&normed, pass)?;
                    drop(normed);
                    let output = residual.f_add(&fed)?;
                    drop(fed);
                    drop((residual, probabilities));
                    Ok(output)
                }
            }
        })
    }
}
