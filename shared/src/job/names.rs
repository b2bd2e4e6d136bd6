//! Words of a config and the values that they stand for, for parsing and for writing.

use super::model::{Activation, Attention, MlpActivation, ResNetDepth, ResNetFamily, TransformerFamily};
use super::recurrent::{CarryHidden, RecurrentCell};
use super::training::{Amp, OptimizerImplementation, Precision};

/// Pairs of a word and its value.
pub(super) type Names<T> = &'static [(&'static str, T)];

/// Returns the word for a value.
pub(super) fn name_of<T: PartialEq>(names: Names<T>, value: &T) -> &'static str {
    names.iter().find(|(_, known)| known == value).map_or("", |(name, _)| name)
}

/// Families of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Mlp,
    ResNet,
    Transformer,
    Bert,
    Vit,
    Unet,
    Rnn,
    Cnn,
}

pub(super) const FAMILIES: Names<Family> = &[
    ("mlp", Family::Mlp),
    ("resnet", Family::ResNet),
    ("transformer", Family::Transformer),
    ("bert", Family::Bert),
    ("vit", Family::Vit),
    ("unet", Family::Unet),
    ("rnn", Family::Rnn),
    ("cnn", Family::Cnn),
];

pub(super) const ARCHITECTURES: Names<TransformerFamily> =
    &[("gpt2", TransformerFamily::Gpt2), ("llama", TransformerFamily::Llama)];

pub(super) const RESNET_ARCHITECTURES: Names<ResNetFamily> =
    &[("torchvision", ResNetFamily::Torchvision), ("transformers", ResNetFamily::Transformers)];

pub(super) const MLP_ACTIVATIONS: Names<MlpActivation> =
    &[("relu", MlpActivation::Relu), ("gelu", MlpActivation::Gelu), ("tanh", MlpActivation::Tanh)];

pub(super) const ACTIVATIONS: Names<Activation> = &[
    ("gelu_new", Activation::GeluNew),
    ("gelu", Activation::Gelu),
    ("gelu_tanh", Activation::GeluTanh),
    ("relu", Activation::Relu),
    ("swiglu", Activation::SwiGlu),
];

/// Activations of encoders, which have no gate.
pub(super) const ENCODER_ACTIVATIONS: Names<Activation> = &[
    ("gelu", Activation::Gelu),
    ("gelu_new", Activation::GeluNew),
    ("gelu_tanh", Activation::GeluTanh),
    ("relu", Activation::Relu),
];

pub(super) const ATTENTIONS: Names<Attention> = &[
    ("sdpa", Attention::Sdpa),
    ("flash", Attention::Flash),
    ("efficient", Attention::Efficient),
    ("cudnn", Attention::Cudnn),
    ("math", Attention::Math),
    ("eager", Attention::Eager),
];

/// Kernels of `scaled_dot_product_attention`, for models that can't write attention out.
pub(super) const SDPA_ATTENTIONS: Names<Attention> = &[
    ("sdpa", Attention::Sdpa),
    ("flash", Attention::Flash),
    ("efficient", Attention::Efficient),
    ("cudnn", Attention::Cudnn),
    ("math", Attention::Math),
];

pub(super) const CELLS: Names<RecurrentCell> = &[("lstm", RecurrentCell::Lstm), ("gru", RecurrentCell::Gru)];

pub(super) const CARRIES: Names<CarryHidden> = &[("detach", CarryHidden::Detach), ("none", CarryHidden::None)];

/// Names of the norms: true for one that subtracts the mean, as layer norm does.
pub(super) const NORMS: Names<bool> = &[("layer_norm", true), ("rms_norm", false)];

/// Names of the position embeddings: true for learned ones.
pub(super) const POSITIONS: Names<bool> = &[("learned", true), ("rotary", false)];

/// Names of the precisions, each with its default `grad_scaler`: on for float16, whose gradients can underflow.
pub(super) const PRECISIONS: Names<Precision> = &[
    ("fp32", Precision::Fp32),
    ("tf32", Precision::Tf32),
    ("bf16", Precision::Bf16),
    ("autocast-bf16", Precision::Autocast(Amp { fp16: false, grad_scaler: false })),
    ("autocast-fp16", Precision::Autocast(Amp { fp16: true, grad_scaler: true })),
];

/// Update rules of optimizers, without their parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    Sgd,
    Adam,
    AdamW,
}

pub(super) const RULES: Names<Rule> = &[("sgd", Rule::Sgd), ("adam", Rule::Adam), ("adamw", Rule::AdamW)];

pub(super) const IMPLEMENTATIONS: Names<OptimizerImplementation> = &[
    ("foreach", OptimizerImplementation::Foreach),
    ("fused", OptimizerImplementation::Fused),
    ("for-loop", OptimizerImplementation::ForLoop),
];

/// Depths of residual networks.
pub(super) const DEPTHS: [(u64, ResNetDepth); 5] = [
    (18, ResNetDepth::D18),
    (34, ResNetDepth::D34),
    (50, ResNetDepth::D50),
    (101, ResNetDepth::D101),
    (152, ResNetDepth::D152),
];
