//! The levels of a U-Net: down, where each halves the image, the middle, and up again.

use shared::job;
use tch::Tensor;

use super::layers::Upsample;
use super::residual::Residual;
use super::transformer::Transformer;
use crate::Result;
use crate::builder::Builder;
use crate::model::layer::{Conv2d, Conv2dShape};
use crate::pass::{Pass, Shared};
use crate::place::Module;

/// What all blocks of a pass read besides features.
#[derive(Debug, Clone, Copy)]
pub(super) struct Condition<'a> {
    /// Features of the time step.
    pub(super) time: &'a Tensor,
    /// The states of the text's tokens.
    pub(super) text: &'a Tensor,
}

/// Residual blocks, each with a transformer behind it where the level has attention.
#[derive(Debug)]
struct Blocks {
    residuals: Vec<Shared<Residual>>,
    transformers: Vec<Transformer>,
}

impl Blocks {
    /// Blocks by their channels; `builder` is that of what has them. Transformers come first, as in diffusers.
    fn new(builder: &Builder, config: &job::Unet, channels: &[[i64; 2]], transformers: usize) -> Result<Self> {
        let time = config.time_features().cast_signed();
        let (attentions, resnets) = (builder.child("attentions"), builder.child("resnets"));
        let transformer = |(index, [_, outputs]): (usize, &[i64; 2])| {
            Transformer::new(&attentions.child(&index.to_string()), config, *outputs)
        };
        let residual = |(index, channels): (usize, &[i64; 2])| {
            Residual::new(&resnets.child(&index.to_string()), *channels, time).map(Shared::new)
        };
        Ok(Self {
            transformers: channels.iter().enumerate().take(transformers).map(transformer).collect::<Result<_>>()?,
            residuals: channels.iter().enumerate().map(residual).collect::<Result<_>>()?,
        })
    }

    /// One block, whose input it lets go of, and its transformer where there is one.
    fn forward(&self, index: usize, input: Tensor, condition: Condition<'_>, pass: &Pass) -> Result<Tensor> {
        let features = self.residual(index, &input, condition, pass)?;
        drop(input);
        match self.transformers.get(index) {
            Some(transformer) => transformer.forward(&features, condition.text, pass),
            None => Ok(features),
        }
    }

    fn residual(&self, index: usize, input: &Tensor, condition: Condition<'_>, pass: &Pass) -> Result<Tensor> {
        let residual = self.residuals[index].clone();
        // A checkpoint drops the last of its inputs first, and diffusers' lets go of the features before the time step.
        pass.layer(&[condition.time, input], move |inputs, _| residual.forward(inputs[1], inputs[0]))
    }
}

/// `CrossAttnDownBlock2D`, or on the coarsest level `DownBlock2D`.
#[derive(Debug)]
pub(super) struct Down {
    module: Module,
    blocks: Blocks,
    downsampler: Option<Conv2d>,
}

impl Down {
    /// A level; `builder` is its own.
    pub(super) fn new(builder: &Builder, config: &job::Unet, level: usize) -> Result<Self> {
        let channels = config.channels[level].cast_signed();
        let before = config.channels[level.saturating_sub(1)].cast_signed();
        let input = |block| if block == 0 { before } else { channels };
        let blocks: Vec<_> = (0..config.layers).map(|block| [input(block), channels]).collect();
        let transformers = if config.has_attention(level) { blocks.len() } else { 0 };
        let shape = Conv2dShape { inputs: channels, outputs: channels, kernel: 3, stride: 2 };
        let is_last = level + 1 == config.channels.len();
        let downsampler = || Conv2d::with_bias(&builder.child("downsamplers.0.conv"), shape);
        Ok(Self {
            module: builder.module(),
            blocks: Blocks::new(builder, config, &blocks, transformers)?,
            downsampler: (!is_last).then(downsampler).transpose()?,
        })
    }

    /// What each block writes, and then the downsampler.
    pub(super) fn forward(&self, input: &Tensor, condition: Condition<'_>, pass: &Pass) -> Result<Vec<Tensor>> {
        self.module.run(|| {
            let mut written: Vec<Tensor> = Vec::new();
            for index in 0..self.blocks.residuals.len() {
                let input = written.last().unwrap_or(input).shallow_clone();
                written.push(self.blocks.forward(index, input, condition, pass)?);
            }
            if let Some(downsampler) = &self.downsampler {
                let output = downsampler.forward(written.last().unwrap_or(input))?;
                written.push(output);
            }
            Ok(written)
        })
    }
}

/// `UNetMidBlock2DCrossAttn`: two residual blocks, and a transformer between them.
#[derive(Debug)]
pub(super) struct Middle {
    module: Module,
    blocks: Blocks,
}

impl Middle {
    /// The middle; `builder` is its own.
    pub(super) fn new(builder: &Builder, config: &job::Unet) -> Result<Self> {
        let channels = config.channels[config.channels.len() - 1].cast_signed();
        let blocks = Blocks::new(builder, config, &[[channels; 2]; 2], 1)?;
        Ok(Self { module: builder.module(), blocks })
    }

    pub(super) fn forward(&self, input: &Tensor, condition: Condition<'_>, pass: &Pass) -> Result<Tensor> {
        self.module.run(|| {
            // diffusers has a checkpoint around all blocks but this.
            let mut features = self.blocks.residuals[0].forward(input, condition.time)?;
            features = self.blocks.transformers[0].forward(&features, condition.text, pass)?;
            self.blocks.residual(1, &features, condition, pass)
        })
    }
}

/// `CrossAttnUpBlock2D`, or on the coarsest level `UpBlock2D`.
#[derive(Debug)]
pub(super) struct Up {
    module: Module,
    blocks: Blocks,
    upsampler: Option<Upsample>,
}

impl Up {
    /// A level; `builder` is its own.
    pub(super) fn new(builder: &Builder, config: &job::Unet, level: usize) -> Result<Self> {
        let of = |level: usize| config.channels[level].cast_signed();
        let below = of((level + 1).min(config.channels.len() - 1));
        let above = of(level.saturating_sub(1));
        let input = |block| if block == 0 { below } else { of(level) };
        let skip = |block| if block == config.layers { above } else { of(level) };
        let blocks: Vec<_> = (0..=config.layers).map(|block| [input(block) + skip(block), of(level)]).collect();
        let transformers = if config.has_attention(level) { blocks.len() } else { 0 };
        let upsampler = || Upsample::new(&builder.child("upsamplers.0"), of(level));
        Ok(Self {
            module: builder.module(),
            blocks: Blocks::new(builder, config, &blocks, transformers)?,
            upsampler: (level > 0).then(upsampler).transpose()?,
        })
    }

    /// How many of the features that were written on the way down it reads.
    pub(super) fn reads(&self) -> usize {
        self.blocks.residuals.len()
    }

    /// Reads `skips` from the last to the first; the size is that of the next level, where halving rounded it.
    pub(super) fn forward(
        &self,
        input: &Tensor,
        skips: &[Tensor],
        size: Option<[i64; 2]>,
        condition: Condition<'_>,
        pass: &Pass,
    ) -> Result<Tensor> {
        self.module.run(|| {
            let mut features = input.shallow_clone();
            for (index, skip) in skips.iter().rev().enumerate() {
                features = Tensor::f_cat(&[&features, skip], 1)?;
                features = self.blocks.forward(index, features, condition, pass)?;
            }
            match &self.upsampler {
                Some(upsampler) => upsampler.forward(&features, size),
                None => Ok(features),
            }
        })
    }
}
