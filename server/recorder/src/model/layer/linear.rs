//! Linear layers: `torch.nn.Linear`.

use tch::Tensor;

use crate::Result;
use crate::builder::{Builder, Init};
use crate::pass::autocast;
use crate::place::Module;

/// Standard deviation of new weights, Hugging Face's `initializer_range`.
pub(in crate::model) const INITIALIZER_RANGE: f64 = 0.02;

/// `torch.nn.Linear`, with a weight of shape (outputs, inputs) and an optional bias.
#[derive(Debug)]
pub(in crate::model) struct Linear {
    module: Module,
    weight: Tensor,
    bias: Option<Tensor>,
}

impl Linear {
    /// Creates a layer with PyTorch's initial values.
    pub(in crate::model) fn new(builder: &Builder, inputs: i64, outputs: i64, bias: bool) -> Result<Self> {
        let bound = Init::Uniform(1.0 / (inputs as f64).sqrt());
        let weight = builder.parameter("weight", &[outputs, inputs], bound)?;
        let bias = if bias { Some(builder.parameter("bias", &[outputs], bound)?) } else { None };
        Ok(Self { module: builder.module(), weight, bias })
    }

    /// Creates a layer with a normally distributed weight and a zero bias, as language models do.
    pub(in crate::model) fn normal(
        builder: &Builder,
        inputs: i64,
        outputs: i64,
        bias: bool,
        deviation: f64,
    ) -> Result<Self> {
        let weight = builder.parameter("weight", &[outputs, inputs], Init::Normal(deviation))?;
        let bias = if bias { Some(builder.parameter("bias", &[outputs], Init::Constant(0.0))?) } else { None };
        Ok(Self { module: builder.module(), weight, bias })
    }

    /// Creates a layer without bias that reads an existing weight of shape (outputs, inputs): a tied head.
    pub(in crate::model) fn tied(builder: &Builder, weight: &Tensor) -> Self {
        Self { module: builder.module(), weight: weight.shallow_clone(), bias: None }
    }

    /// Creates a tied layer with a bias of its own, which starts at 0.
    pub(in crate::model) fn tied_with_bias(builder: &Builder, weight: &Tensor) -> Result<Self> {
        let bias = builder.parameter("bias", &[weight.size()[0]], Init::Constant(0.0))?;
        Ok(Self { bias: Some(bias), ..Self::tied(builder, weight) })
    }

    pub(in crate::model) fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.module.run(|| {
            // Autocast casts the operands of an operation from the last to the first.
            let bias = self.bias.as_ref().map(autocast::weight).transpose()?;
            let weight = autocast::weight(&self.weight)?;
            let input = autocast::activation(input)?;
            input.f_linear(&weight, bias.as_ref())
        })
    }
}
