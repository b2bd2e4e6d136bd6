//! Attention of a U-Net, from pixels to each other or to the tokens of a text.

use shared::job;
use tch::Tensor;

use crate::Result;
use crate::builder::Builder;
use crate::model::layer::{AttentionKernel, Linear};
use crate::numbers::Numbers as _;
use crate::pass::Pass;
use crate::place::Module;

/// `Attention` with `AttnProcessor2_0`: no bias of queries, keys and values, no mask, and no dropout.
#[derive(Debug)]
pub(super) struct Attention {
    module: Module,
    to_q: Linear,
    to_k: Linear,
    to_v: Linear,
    to_out: Linear,
    kernel: AttentionKernel,
    head_dim: i64,
}

impl Attention {
    /// Creates attention of pixels with `channels` channels to tokens with `source` features.
    pub(super) fn new(builder: &Builder, config: &job::Unet, channels: i64, source: i64) -> Result<Self> {
        let linear = |name, inputs, bias| Linear::new(&builder.child(name), inputs, channels, bias);
        let head_dim = channels / config.heads.cast_signed();
        Ok(Self {
            module: builder.module(),
            to_q: linear("to_q", channels, false)?,
            to_k: linear("to_k", source, false)?,
            to_v: linear("to_v", source, false)?,
            to_out: linear("to_out.0", channels, true)?,
            kernel: AttentionKernel::plain(config.attention, head_dim),
            head_dim,
        })
    }

    /// Runs attention to `text`, or to the pixels themselves; returns features of shape (samples, pixels, channels).
    pub(super) fn forward(&self, input: &Tensor, text: Option<&Tensor>, pass: &Pass) -> Result<Tensor> {
        self.module.run(|| {
            let source = text.unwrap_or(input);
            let query = self.to_q.forward(input)?;
            let key = self.to_k.forward(source)?;
            let value = self.to_v.forward(source)?;
            let (query, key, value) = (self.split(query)?, self.split(key)?, self.split(value)?);
            let mut output = self.kernel.forward([&query, &key, &value], None, pass)?.output.f_flatten(2, 3)?;
            output = self.to_out.forward(&output)?;
            // diffusers divides by `rescale_output_factor`, even if it is 1.
            output = output.divide_number(1.0)?;
            drop((query, key, value));
            Ok(output)
        })
    }

    /// Splits channels into heads, as the dimension before the tokens.
    fn split(&self, features: Tensor) -> Result<Tensor> {
        let (samples, _, channels) = features.size3()?;
        features.f_view([samples, -1, channels / self.head_dim, self.head_dim])?.f_transpose(1, 2)
    }
}
