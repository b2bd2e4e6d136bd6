//! Attention between tokens, computed from queries, keys and values.
#![allow(unsafe_code, reason = "tch has no switch for attention's backends")]

use std::ffi::c_int;

use shared::job::{self, Attention};
use tch::{Kind, Tensor};

use crate::Result;
use crate::numbers::Numbers as _;
use crate::pass::Pass;

/// Largest number of features per head with fused grouped-query attention.
///
/// With more features PyTorch would fall back to matrix products.
const MOST_GROUPED_FEATURES: i64 = 256;

/// Attention kernel for queries, keys and values of shape (batch, heads, tokens, features).
#[derive(Debug)]
pub(in crate::model) struct AttentionKernel {
    kind: job::Attention,
    scale: f64,
    /// Number of query heads that share one head of keys and values.
    group: i64,
    dropout: f64,
    /// True if tokens attend to themselves and earlier tokens only.
    causal: bool,
    softmax: Softmax,
}

/// Steps of the softmax in eager attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Softmax {
    /// In 32 bits, whatever the dtype around it: Llama.
    Wide,
    /// In the dtype of the scores, then cast to that of the values: GPT-2.
    AsValues,
    /// In the dtype of the scores: BERT.
    Plain,
}

/// Result of attention, as in Python.
#[derive(Debug)]
pub(in crate::model) struct Attended {
    /// Output of shape (batch, tokens, heads, features).
    pub(in crate::model) output: Tensor,
    /// Probabilities of shape (batch, heads, tokens, tokens), with eager attention only.
    pub(in crate::model) probabilities: Option<Tensor>,
}

impl AttentionKernel {
    /// Creates the attention of a transformer; from here on the whole process uses its backend.
    pub(in crate::model) fn new(config: &job::Transformer) -> Self {
        select(config.attention);
        Self {
            kind: config.attention,
            scale: (config.head_dim as f64).powf(-0.5),
            group: (config.heads / config.kv_heads).cast_signed(),
            dropout: config.dropout.attention,
            causal: true,
            softmax: match config.family {
                job::TransformerFamily::Gpt2 => Softmax::AsValues,
                job::TransformerFamily::Llama => Softmax::Wide,
            },
        }
    }

    /// Creates BERT's attention; the process uses its backend, as for [`AttentionKernel::new`].
    pub(in crate::model) fn bert(config: &job::Bert) -> Self {
        select(config.attention);
        Self {
            kind: config.attention,
            scale: (config.head_dim() as f64).powf(-0.5),
            group: 1,
            dropout: config.attention_dropout,
            causal: false,
            softmax: Softmax::Plain,
        }
    }

    /// Computes attention, masked by `mask` if it is eager, and otherwise by the causal flag of the kernel.
    pub(in crate::model) fn forward(
        &self,
        [query, key, value]: [&Tensor; 3],
        mask: Option<&Tensor>,
        pass: &Pass,
    ) -> Result<Attended> {
        let dropout = if pass.training { self.dropout } else { 0.0 };
        if self.kind == job::Attention::Eager {
            return self.eager([query, key, value], mask, dropout);
        }
        let output = self.fused([query, key, value], dropout)?;
        Ok(Attended { output, probabilities: None })
    }

    /// Follows `sdpa_attention_forward`.
    fn fused(&self, [query, key, value]: [&Tensor; 3], dropout: f64) -> Result<Tensor> {
        let grouped = self.group > 1 && key.size()[3] <= MOST_GROUPED_FEATURES;
        let (key, value) = if grouped {
            (key.shallow_clone(), value.shallow_clone())
        } else {
            (self.repeated(key)?, self.repeated(value)?)
        };
        let attended = Tensor::f_scaled_dot_product_attention(
            query,
            &key,
            &value,
            None::<&Tensor>,
            dropout,
            self.causal && query.size()[2] > 1,
            self.scale,
            grouped,
        )?;
        let output = attended.f_transpose(1, 2)?.f_contiguous()?;
        drop(attended);
        drop((key, value));
        Ok(output)
    }

    /// Follows `eager_attention_forward`.
    fn eager(&self, [query, key, value]: [&Tensor; 3], mask: Option<&Tensor>, dropout: f64) -> Result<Attended> {
        let (key, value) = (self.repeated(key)?, self.repeated(value)?);
        let mut weights = query.f_matmul(&key.f_transpose(2, 3)?)?.multiply_number(self.scale)?;
        if let Some(mask) = mask {
            weights = weights.f_add(mask)?;
        }
        weights = match self.softmax {
            Softmax::Wide => weights.f_softmax(-1, Kind::Float)?.f_to_kind(query.kind())?,
            Softmax::AsValues | Softmax::Plain => weights.f_softmax(-1, None)?,
        };
        if self.softmax == Softmax::AsValues {
            weights = weights.f_to_kind(value.kind())?;
        }
        weights = weights.f_dropout(dropout, true)?;
        let attended = weights.f_matmul(&value)?;
        let output = attended.f_transpose(1, 2)?.f_contiguous()?;
        drop(attended);
        drop((key, value));
        Ok(Attended { output, probabilities: Some(weights) })
    }

    /// Repeats the heads of keys or values, so that there is one for each query head: `repeat_kv`.
    fn repeated(&self, heads: &Tensor) -> Result<Tensor> {
        if self.group == 1 {
            return Ok(heads.shallow_clone());
        }
        let [batch, count, tokens, features] = heads.size()[..] else { unreachable!("heads have four dimensions") };
        let shared = heads.f_unsqueeze(2)?.f_expand([batch, count, self.group, tokens, features], false)?;
        shared.f_reshape([batch, count * self.group, tokens, features])
    }
}

/// Splits features of shape (samples, tokens, features) into heads, as the dimension before the tokens.
pub(in crate::model) fn split_heads(features: &Tensor, head_dim: i64) -> Result<Tensor> {
    let [samples, tokens, _] = features.size()[..] else { unreachable!("features are of samples and tokens") };
    features.f_view([samples, tokens, -1, head_dim])?.f_transpose(1, 2)
}

unsafe extern "C" {
    safe fn snapscope_attention_backends(flash: c_int, efficient: c_int, cudnn: c_int, math: c_int);
}

/// Allows only one backend, as `torch.nn.attention.sdpa_kernel` does, or all of them for PyTorch to choose from.
///
/// The switches are global to the process, so that they also apply to threads of the autograd engine.
fn select(attention: Attention) {
    let allowed = |backend| {
        let any = matches!(attention, Attention::Sdpa | Attention::Eager);
        c_int::from(any || attention == backend)
    };
    let [flash, efficient] = [Attention::Flash, Attention::Efficient].map(allowed);
    snapscope_attention_backends(flash, efficient, allowed(Attention::Cudnn), allowed(Attention::Math));
}
