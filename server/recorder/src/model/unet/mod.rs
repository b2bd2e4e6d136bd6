//! U-Net of latent diffusion: `UNet2DConditionModel` of diffusers 0.42.
//!
//! It is trained as in `train_text_to_image.py`: the model predicts the noise in noisy latents. Modules have the names
//! of diffusers.

mod attention;
mod layers;
mod level;
mod residual;
mod time;
mod transformer;

use shared::job::{self, Precision};
use tch::{Device, Kind, Reduction, Tensor};

use self::layers::{GroupNorm, Silu};
use self::level::{Condition, Down, Middle, Up};
use self::time::{TimestepEmbedding, Timesteps};
use super::layer::{Conv2d, Conv2dShape};
use super::{Batch, Network, Output};
use crate::Result;
use crate::builder::Builder;
use crate::pass::Pass;
use crate::place::Module;

const EPSILON: f64 = 1e-5;
/// Number of steps from noise to image; each sample has one of them.
const TIMESTEPS: i64 = 1000;
/// Number of channels that the model reads and writes.
const LATENT_CHANNELS: i64 = job::Unet::LATENT_CHANNELS.cast_signed();

/// A U-Net that runs on latents and texts.
#[derive(Debug)]
pub struct Unet {
    time_proj: Timesteps,
    time_embedding: TimestepEmbedding,
    conv_in: Conv2d,
    /// Ordered from the finest level to the coarsest.
    down_blocks: Vec<Down>,
    mid_block: Middle,
    /// Ordered from the coarsest level to the finest.
    up_blocks: Vec<Up>,
    conv_norm_out: GroupNorm,
    conv_act: Silu,
    conv_out: Conv2d,
    loss: Module,
    data: Data,
    checkpointing: bool,
}

/// Properties of a batch.
#[derive(Debug)]
struct Data {
    /// Height and width of the latents.
    size: i64,
    text: [i64; 2],
    kind: Kind,
}

impl Unet {
    /// Builds the model on the builder's device.
    ///
    /// # Errors
    ///
    /// Returns an error if memory runs out.
    pub fn new(config: &job::Unet, job: &job::Job, builder: &Builder) -> Result<Self> {
        let (finest, time) = (config.channels[0].cast_signed(), config.time_features().cast_signed());
        let conv = |name, inputs, outputs| {
            Conv2d::with_bias(&builder.child(name), Conv2dShape { inputs, outputs, kernel: 3, stride: 1 })
        };
        let levels = config.channels.len();
        let (downs, ups) = (builder.child("down_blocks"), builder.child("up_blocks"));
        let down = |level: usize| Down::new(&downs.child(&level.to_string()), config, level);
        let up = |index: usize| Up::new(&ups.child(&index.to_string()), config, levels - 1 - index);
        // In the order in which diffusers creates the modules: the middle comes after both ways.
        Ok(Self {
            conv_in: conv("conv_in", LATENT_CHANNELS, finest)?,
            time_proj: Timesteps::new(&builder.child("time_proj"), finest),
            time_embedding: TimestepEmbedding::new(&builder.child("time_embedding"), [finest, time])?,
            down_blocks: (0..levels).map(down).collect::<Result<_>>()?,
            up_blocks: (0..levels).map(up).collect::<Result<_>>()?,
            mid_block: Middle::new(&builder.child("mid_block"), config)?,
            conv_norm_out: GroupNorm::new(&builder.child("conv_norm_out"), finest, EPSILON)?,
            conv_act: Silu::new(&builder.child("conv_act")),
            conv_out: conv("conv_out", finest, LATENT_CHANNELS)?,
            loss: builder.child("mse_loss").module(),
            data: Data::new(config, job.precision, builder.kind()),
            checkpointing: job.checkpointing,
        })
    }

    /// Follows `UNet2DConditionModel.forward`.
    fn denoise(&self, latents: &Tensor, timesteps: &Tensor, text: &Tensor, pass: &Pass) -> Result<Tensor> {
        // Python's variable holds the tensor until the end.
        let mut steps = self.time_proj.forward(timesteps)?;
        steps = steps.f_to_kind(latents.kind())?;
        let time = self.time_embedding.forward(&steps)?;
        let condition = Condition { time: &time, text };
        let mut sample = self.conv_in.forward(latents)?;
        // Checkpoints of diffusers depend on whether there is a graph, not on whether the model is trained.
        let pass = Pass { training: true, checkpointing: self.checkpointing && sample.requires_grad(), ..*pass };
        let mut skips = vec![sample.shallow_clone()];
        for block in &self.down_blocks {
            skips.extend(block.forward(&sample, condition, &pass)?);
            sample = skips[skips.len() - 1].shallow_clone();
        }
        sample = self.mid_block.forward(&sample, condition, &pass)?;
        let mut read = Vec::new();
        for block in &self.up_blocks {
            drop_last_first(std::mem::replace(&mut read, skips.split_off(skips.len() - block.reads())));
            sample = block.forward(&sample, &read, self.size_above(&skips)?, condition, &pass)?;
        }
        sample = self.conv_norm_out.forward(&sample)?;
        sample = self.conv_act.forward(&sample)?;
        sample = self.conv_out.forward(&sample)?;
        drop((steps, time));
        drop_last_first(read);
        Ok(sample)
    }

    /// Returns the size that upsampling has to reach, if some level has an odd size.
    ///
    /// `skips` are those of finer levels.
    fn size_above(&self, skips: &[Tensor]) -> Result<Option<[i64; 2]>> {
        let halves = self.up_blocks.len() - 1;
        match skips.last() {
            Some(skip) if self.data.size % (1 << halves) != 0 => {
                let (_, _, height, width) = skip.size4()?;
                Ok(Some([height, width]))
            }
            _ => Ok(None),
        }
    }
}

/// Drops tensors from the last to the first, as Python does with a tuple.
fn drop_last_first(mut tensors: Vec<Tensor>) {
    while tensors.pop().is_some() {}
}

impl Data {
    /// Describes a batch; frozen encoders write latents and texts in the dtype of autocast.
    fn new(config: &job::Unet, precision: Precision, weights: Kind) -> Self {
        Self {
            size: config.latent_size().cast_signed(),
            text: [config.text_tokens.cast_signed(), config.cross_attention_dim.cast_signed()],
            kind: match precision {
                Precision::Autocast(amp) if amp.fp16 => Kind::Half,
                Precision::Autocast(_) => Kind::BFloat16,
                _ => weights,
            },
        }
    }
}

impl Network for Unet {
    fn batch(&self, samples: i64) -> Result<Batch> {
        let Data { size, text: [tokens, features], kind } = self.data;
        // Zeros take as much memory as other values and are the cheapest to create.
        let zeros = |shape: &[i64]| Tensor::f_zeros(shape, (kind, Device::Cpu));
        let latents = [samples, LATENT_CHANNELS, size, size];
        Ok(vec![
            ("latents", zeros(&latents)?),
            ("timesteps", Tensor::f_randint(TIMESTEPS, [samples], (Kind::Int64, Device::Cpu))?),
            ("text", zeros(&[samples, tokens, features])?),
            ("noise", zeros(&latents)?),
        ])
    }

    fn forward(&self, batch: &Batch, pass: &Pass) -> Result<Output> {
        let logits = self.denoise(&batch[0].1, &batch[1].1, &batch[2].1, pass)?;
        Ok(Output { locals: Vec::new(), logits, kept: Vec::new() })
    }

    /// Computes `mse_loss(prediction.float(), noise.float())`.
    fn loss(&self, output: &Output, batch: &Batch) -> Result<Tensor> {
        self.loss.run(|| {
            let prediction = output.logits.f_to_kind(Kind::Float)?;
            let noise = batch[3].1.f_to_kind(Kind::Float)?;
            let loss = prediction.f_mse_loss(&noise, Reduction::Mean)?;
            drop((prediction, noise));
            Ok(loss)
        })
    }
}
