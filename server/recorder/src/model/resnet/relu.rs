//! `nn.ReLU`, in place or not.

use shared::job::ResNetFamily;
use tch::Tensor;

use crate::Result;
use crate::builder::Builder;
use crate::place::Module;

/// An activation that overwrites what it reads, or takes memory of its own.
#[derive(Debug)]
pub(super) struct Relu {
    module: Module,
    in_place: bool,
}

impl Relu {
    /// The activation of an implementation; `builder` is its own.
    pub(super) fn new(builder: &Builder, family: ResNetFamily) -> Self {
        Self { module: builder.module(), in_place: family == ResNetFamily::Torchvision }
    }

    /// Whether it overwrites what it reads.
    pub(super) fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// What follows the features; they are freed, since nothing else needs them.
    pub(super) fn forward(&self, mut features: Tensor) -> Result<Tensor> {
        self.module.run(|| if self.in_place { features.f_relu_() } else { features.f_relu() })
    }
}
