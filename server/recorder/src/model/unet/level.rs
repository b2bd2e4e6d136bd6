//! Levels of a U-Net: down, where each halves the image, the middle, and up again.

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

/// Inputs of all blocks of a pass besides the features.
#[derive(Debug, Clone, Copy)]
pub(super) struct Condition<'a> {
    /// Features of the time step.
    pub(super) time: &'a Tensor,
    /// Hidden states of the text's tokens.
    pub(super) text: &'a Tensor,
}

/// Residual blocks, each followed by a transformer if the level has attention.
#[derive(Debug)]
struct Blocks {
    residuals: Vec<Shared<Residual>>,
    transformers: Vec<Transformer>,
}

impl Blocks {
    /// Creates one block for each pair of input and output channels, transformers first, as in diffusers.
    ///
    /// `builder` is that of the module that contains the blocks.
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

    /// Runs one block, drops its input, and runs its transformer if there is one.
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
        // A checkpoint drops its inputs from the last to the first, and diffusers drops the features before the time
        // step.
        pass.layer(&[condition.time, input], move |inputs, _| residual.forward(inputs[1], inputs[0]))
    }
}

/// `CrossAttnDownBlock2D`, or `DownBlock2D` on the coarsest level.
#[derive(Debug)]
pub(super) struct Down {
    module: Module,
    blocks: Blocks,
    downsampler: Option<Conv2d>,
}

impl Down {
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

    /// Returns the output of each block, and then that of the downsampler.
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

/// `UNetMidBlock2DCrossAttn`: two residual blocks with a transformer between them.
#[derive(Debug)]
pub(super) struct Middle {
    module: Module,
    blocks: Blocks,
}

impl Middle {
    pub(super) fn new(builder: &Builder, config: &job::Unet) -> Result<Self> {
        let channels = config.channels[config.channels.len() - 1].cast_signed();
        let blocks = Blocks::new(builder, config, &[[channels; 2]; 2], 1)?;
        Ok(Self { module: builder.module(), blocks })
    }

    pub(super) fn forward(&self, input: &Tensor, condition: Condition<'_>, pass: &Pass) -> Result<Tensor> {
        self.module.run(|| {
            // diffusers checkpoints all blocks except this one.
            let mut features = self.blocks.residuals[0].forward(input, condition.time)?;
            features = self.blocks.transformers[0].forward(&features, condition.text, pass)?;
            self.blocks.residual(1, &features, condition, pass)
        })
    }
}

/// `CrossAttnUpBlock2D`, or `UpBlock2D` on the coarsest level.
#[derive(Debug)]
pub(super) struct Up {
    module: Module,
    blocks: Blocks,
    upsampler: Option<Upsample>,
}

impl Up {
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

    /// Returns the number of outputs of the way down that this level reads.
    pub(super) fn reads(&self) -> usize {
        self.blocks.residuals.len()
    }

    /// Runs the level; it reads `skips` from the last to the first.
    ///
    /// `size` is that of the next level, if halving had rounded it.
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
