//! Cross entropy: `torch.nn.functional.cross_entropy`.

use tch::{Reduction, Tensor};

use crate::Result;
use crate::builder::Builder;
use crate::place::Module;

/// `torch.nn.functional.cross_entropy` with its defaults: the mean over all samples.
#[derive(Debug)]
pub(in crate::model) struct CrossEntropy {
    module: Module,
}

/// Label of ignored samples: PyTorch's `ignore_index`.
const IGNORED: i64 = -100;

impl CrossEntropy {
    pub(in crate::model) fn new(builder: &Builder) -> Self {
        Self { module: builder.module() }
    }

    pub(in crate::model) fn forward(&self, logits: &Tensor, labels: &Tensor) -> Result<Tensor> {
        self.module.run(|| logits.f_cross_entropy_loss::<Tensor>(labels, None, Reduction::Mean, IGNORED, 0.0))
    }
}
