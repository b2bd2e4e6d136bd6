//! Checks that the cards have the kernels for a job's attention or recurrent network.
//!
//! The rules are those of `sdp_utils.cpp` in PyTorch 2.11. A forced kernel that can't run is an error there too, but
//! only in the middle of the run.

use super::super::card::{Card, ComputeCapability};
use super::super::model::Model;
use super::super::training::Precision;
use super::super::transformer::Attention;
use super::{Job, Resolver};

const TURING: ComputeCapability = ComputeCapability { major: 7, minor: 5 };
pub(super) const AMPERE: ComputeCapability = ComputeCapability { major: 8, minor: 0 };
const HOPPER: ComputeCapability = ComputeCapability { major: 9, minor: 0 };

/// Properties of a model's attention that kernels depend on.
struct Heads {
    attention: Attention,
    head_dim: u64,
    /// Dropout probability of the attention probabilities.
    dropout: f64,
}

impl Heads {
    fn of(model: &Model) -> Option<Self> {
        match model {
            Model::Mlp(_) | Model::ResNet(_) | Model::Rnn(_) | Model::Cnn(_) => None,
            Model::Transformer(model) => {
                Some(Self { attention: model.attention, head_dim: model.head_dim, dropout: model.dropout.attention })
            }
            Model::Bert(model) => {
                Some(Self { attention: model.attention, head_dim: model.head_dim(), dropout: model.attention_dropout })
            }
        }
    }
}

impl Resolver {
    /// Checks that the cards have recurrent networks of cuDNN: version 9.19 needs compute capability 7.5 or later.
    pub(super) fn check_recurrent(&mut self, job: &Job) {
        let is_old = |card: &&Card| card.capability < TURING;
        if let (Model::Rnn(_), Some(card)) = (&job.model, job.device.cards().iter().find(is_old)) {
            let message = format!("cuDNN does not support recurrent networks on {}", card.name);
            self.problem("card", message, "choose a card with compute capability 7.5 or later, such as t4-16gb");
        }
    }

    pub(super) fn check_attention(&mut self, job: &Job) {
        let reason = Heads::of(&job.model).and_then(|heads| {
            let on_card = |card| why_not_on(&heads, job.precision, card);
            why_not(&heads, job.precision).or_else(|| job.device.cards().iter().find_map(on_card))
        });
        if let Some(reason) = reason {
            self.problem("model.attention", reason, "remove it to let PyTorch choose one that can run");
        }
    }
}

/// Returns the reason why attention can't run on any card.
fn why_not(model: &Heads, precision: Precision) -> Option<String> {
    let is_half = !matches!(precision, Precision::Fp32 | Precision::Tf32);
    let name = match model.attention {
        Attention::Flash => "flash",
        Attention::Cudnn => "cuDNN",
        _ => return None,
    };
    (!is_half).then(|| format!("{name} attention needs a 16-bit precision, such as precision = \"autocast-bf16\""))
}

/// Returns the reason why attention can't run on this card.
fn why_not_on(model: &Heads, precision: Precision, card: &Card) -> Option<String> {
    let Heads { attention, head_dim, .. } = *model;
    let capability = card.capability;
    let is_before_ampere = capability < AMPERE;
    let on = format!("on {} (compute capability {capability})", card.name);
    match attention {
        Attention::Flash if is_before_ampere => {
            Some(format!("flash attention needs compute capability 8.0 and cannot run {on}"))
        }
        Attention::Flash if head_dim > 256 => {
            Some(format!("flash attention supports head dimensions up to 256, not {head_dim}"))
        }
        Attention::Flash if lacks_flash_backward(model, capability) => {
            Some(format!("flash attention cannot train a head dimension of {head_dim} {on}"))
        }
        Attention::Efficient if is_before_ampere && is_bf16(precision) => {
            Some(format!("efficient attention does not support bfloat16 {on}"))
        }
        Attention::Cudnn if is_before_ampere => {
            Some(format!("cuDNN attention needs compute capability 8.0 and cannot run {on}"))
        }
        Attention::Cudnn if head_dim % 8 != 0 => {
            Some(format!("cuDNN attention needs a head dimension that is a multiple of 8, not {head_dim}"))
        }
        Attention::Cudnn if head_dim > cudnn_most(capability) => Some(format!(
            "cuDNN attention supports head dimensions up to {}, not {head_dim}, {on}",
            cudnn_most(capability)
        )),
        _ => None,
    }
}

const fn is_bf16(precision: Precision) -> bool {
    match precision {
        Precision::Bf16 => true,
        Precision::Autocast(amp) => !amp.fp16,
        Precision::Fp32 | Precision::Tf32 => false,
    }
}

/// Returns true if a card with little shared memory has no backward kernel for heads of this size.
fn lacks_flash_backward(model: &Heads, capability: ComputeCapability) -> bool {
    let has_little_shared_memory = matches!((capability.major, capability.minor), (8, 6 | 9) | (12, 0));
    let is_large = model.head_dim > 192 && model.head_dim <= 224;
    let is_largest = model.head_dim > 224 && model.dropout > 0.0;
    has_little_shared_memory && (is_large || is_largest)
}

/// Returns the largest head dimension that cuDNN 9.19 supports for forward and backward.
fn cudnn_most(capability: ComputeCapability) -> u64 {
    if capability == HOPPER { 256 } else { 128 }
}
