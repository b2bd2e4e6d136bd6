//! Transformer over the pixels of a U-Net: `Transformer2DModel` and its `BasicTransformerBlock`.

use shared::job;
use tch::Tensor;

use super::attention::Attention;
use super::layers::GroupNorm;
use crate::Result;
use crate::builder::Builder;
use crate::model::layer::{Conv2d, Conv2dShape, Linear, Norm};
use crate::pass::{Pass, Shared};
use crate::place::Module;

/// Epsilon of the group norm.
const EPSILON: f64 = 1e-6;
/// Epsilon of the norms in the block.
const BLOCK_EPSILON: f64 = 1e-5;

/// `Transformer2DModel`: one block between two convolutions, added to its input.
#[derive(Debug)]
pub(super) struct Transformer {
    module: Module,
    norm: GroupNorm,
    proj_in: Conv2d,
    block: Shared<Block>,
    proj_out: Conv2d,
}

/// `BasicTransformerBlock`: attention to the image, attention to the text, and a feed-forward network.
#[derive(Debug)]
struct Block {
    module: Module,
    norm1: Norm,
    attn1: Attention,
    norm2: Norm,
    attn2: Attention,
    norm3: Norm,
    ff: FeedForward,
}

/// `FeedForward`, whose activation is `GEGLU`.
#[derive(Debug)]
struct FeedForward {
    module: Module,
    geglu: Module,
    proj: Linear,
    out: Linear,
}

impl Transformer {
    pub(super) fn new(builder: &Builder, config: &job::Unet, channels: i64) -> Result<Self> {
        let shape = Conv2dShape { inputs: channels, outputs: channels, kernel: 1, stride: 1 };
        Ok(Self {
            module: builder.module(),
            norm: GroupNorm::new(&builder.child("norm"), channels, EPSILON)?,
            proj_in: Conv2d::with_bias(&builder.child("proj_in"), shape)?,
            block: Shared::new(Block::new(&builder.child("transformer_blocks.0"), config, channels)?),
            proj_out: Conv2d::with_bias(&builder.child("proj_out"), shape)?,
        })
    }

    /// Runs the transformer on features of shape (samples, channels, height, width), and on the tokens of a text.
    pub(super) fn forward(&self, input: &Tensor, text: &Tensor, pass: &Pass) -> Result<Tensor> {
        self.module.run(|| {
            let (samples, channels, height, width) = input.size4()?;
            let mut tokens = self.norm.forward(input)?;
            tokens = self.proj_in.forward(&tokens)?;
            tokens = tokens.f_permute([0, 2, 3, 1])?.f_reshape([samples, height * width, channels])?;
            let block = self.block.clone();
            tokens = pass.layer(&[&tokens, text], move |inputs, pass| block.forward(inputs[0], inputs[1], pass))?;
            let mut image = tokens.f_reshape([samples, height, width, channels])?;
            image = image.f_permute([0, 3, 1, 2])?.f_contiguous()?;
            image = self.proj_out.forward(&image)?;
            let output = image.f_add(input)?;
            drop((image, tokens));
            Ok(output)
        })
    }
}

impl Block {
    fn new(builder: &Builder, config: &job::Unet, channels: i64) -> Result<Self> {
        let norm = |name| Norm::new(&builder.child(name), job::Norm::LayerNorm(BLOCK_EPSILON), channels);
        let text = config.cross_attention_dim.cast_signed();
        Ok(Self {
            module: builder.module(),
            norm1: norm("norm1")?,
            attn1: Attention::new(&builder.child("attn1"), config, channels, channels)?,
            norm2: norm("norm2")?,
            attn2: Attention::new(&builder.child("attn2"), config, channels, text)?,
            norm3: norm("norm3")?,
            ff: FeedForward::new(&builder.child("ff"), channels)?,
        })
    }

    fn forward(&self, input: &Tensor, text: &Tensor, pass: &Pass) -> Result<Tensor> {
        self.module.run(|| {
            let mut normed = self.norm1.forward(input)?;
            let mut attended = self.attn1.forward(&normed, None, pass)?;
            let mut hidden = attended.f_add(input)?;
            normed = self.norm2.forward(&hidden)?;
            attended = self.attn2.forward(&normed, Some(text), pass)?;
            hidden = attended.f_add(&hidden)?;
            normed = self.norm3.forward(&hidden)?;
            let inner = self.ff.forward(&normed)?;
            hidden = inner.f_add(&hidden)?;
            drop((normed, attended, inner));
            Ok(hidden)
        })
    }
}

impl FeedForward {
    fn new(builder: &Builder, channels: i64) -> Result<Self> {
        let geglu = builder.child("net.0");
        let inner = 4 * channels;
        Ok(Self {
            module: builder.module(),
            geglu: geglu.module(),
            proj: Linear::new(&geglu.child("proj"), channels, 2 * inner, true)?,
            out: Linear::new(&builder.child("net.2"), inner, channels, true)?,
        })
    }

    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.module.run(|| {
            let inner = self.geglu.run(|| {
                let both = self.proj.forward(input)?;
                let halves = both.f_chunk(2, -1)?;
                let gate = halves[1].f_gelu("none")?;
                let gated = halves[0].f_mul(&gate)?;
                drop(gate);
                Ok(gated)
            })?;
            self.out.forward(&inner)
        })
    }
}
