//! The activation `nn.ReLU`, in place or not.

use shared::job::ResNetFamily;
use tch::Tensor;

use crate::Result;
use crate::builder::Builder;
use crate::place::Module;

/// An activation that overwrites its input, or allocates its output.
#[derive(Debug)]
pub(super) struct Relu {
    module: Module,
    in_place: bool,
}

impl Relu {
    pub(super) fn new(builder: &Builder, family: ResNetFamily) -> Self {
        Self { module: builder.module(), in_place: family == ResNetFamily::Torchvision }
    }

    pub(super) fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Applies the activation, and drops the input, which nothing else needs.
    pub(super) fn forward(&self, mut features: Tensor) -> Result<Tensor> {
        self.module.run(|| if self.in_place { features.f_relu_() } else { features.f_relu() })
    }
}
