//! `torch.nn.Linear`.

use tch::Tensor;

use crate::Result;
use crate::builder::{Builder, Init};
use crate::pass::autocast;
use crate::place::Module;

/// `torch.nn.Linear`: a weight of (outputs, inputs), and perhaps a bias.
#[derive(Debug)]
pub(in crate::model) struct Linear {
    module: Module,
    weight: Tensor,
    bias: Option<Tensor>,
}

impl Linear {
    /// A linear layer; `builder` is the layer's own.
    pub(in crate::model) fn new(builder: &Builder, inputs: i64, outputs: i64, bias: bool) -> Result<Self> {
        let bound = Init::Uniform(1.0 / (inputs as f64).sqrt());
        let weight = builder.parameter("weight", &[outputs, inputs], bound)?;
        let bias = if bias { Some(builder.parameter("bias", &[outputs], bound)?) } else { None };
        Ok(Self { module: builder.module(), weight, bias })
    }

    /// A linear layer whose weight is normally distributed and whose bias is 0, as language models begin.
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

    /// A linear layer without bias that reads a weight of (outputs, inputs) made elsewhere: a tied head.
    pub(in crate::model) fn tied(builder: &Builder, weight: &Tensor) -> Self {
        Self { module: builder.module(), weight: weight.shallow_clone(), bias: None }
    }

    /// A tied layer with a bias of its own, which is 0 at first.
    pub(in crate::model) fn tied_with_bias(builder: &Builder, weight: &Tensor) -> Result<Self> {
        let bias = builder.parameter("bias", &[weight.size()[0]], Init::Constant(0.0))?;
        Ok(Self { bias: Some(bias), ..Self::tied(builder, weight) })
    }

    pub(in crate::model) fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.module.run(|| {
            // The order in which autocast casts its operands: the last comes first.
            let bias = self.bias.as_ref().map(autocast::weight).transpose()?;
            let weight = autocast::weight(&self.weight)?;
            let input = autocast::activation(input)?;
            input.f_linear(&weight, bias.as_ref())
        })
    }
}
