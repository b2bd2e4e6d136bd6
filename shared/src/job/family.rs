//! Families of models: those of a family have the same keys in a config.

use super::names::Names;

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
