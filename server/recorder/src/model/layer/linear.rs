//! Linear layers, their adapters, and embeddings of indices: `torch.nn.Linear`, LoRA and `torch.nn.Embedding`.

use shared::job::Lora;
use tch::{Kind, Tensor};

use super::simple::Dropout;
use crate::Result;
use crate::builder::{Builder, Init};
use crate::numbers::Numbers as _;
use crate::pass::{Pass, autocast};
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
        let bias = builder.bias(bias, outputs, bound)?;
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
        let bias = builder.bias(bias, outputs, Init::Constant(0.0))?;
        Ok(Self { module: builder.module(), weight, bias })
    }

    /// Creates a layer without bias that reads an existing weight of shape (outputs, inputs): a tied head.
    pub(in crate::model) fn tied(builder: &Builder, weight: &Tensor) -> Self {
        Self { module: builder.module(), weight: weight.shallow_clone(), bias: None }
    }

    /// Creates a tied layer with a bias of its own, which starts at 0.
    pub(in crate::model) fn tied_with_bias(builder: &Builder, weight: &Tensor) -> Result<Self> {
        let bias = builder.bias(true, weight.size()[0], Init::Constant(0.0))?;
        Ok(Self { bias, ..Self::tied(builder, weight) })
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

/// Two small linear layers in a row, whose output is added to that of a linear layer.
#[derive(Debug)]
pub(in crate::model) struct Adapter {
    module: Module,
    dropout: Dropout,
    first: Linear,
    second: Linear,
    scale: f64,
}

impl Adapter {
    /// Creates the adapter of the linear layer that `builder` builds, if it has one.
    pub(in crate::model) fn new(builder: &Builder, inputs: i64, outputs: i64) -> Result<Option<Self>> {
        let module = builder.module();
        let Some(Lora { rank, alpha, dropout, .. }) =
            builder.lora.as_deref().filter(|lora| lora.adapts(&module.path()))
        else {
            return Ok(None);
        };
        let trained = builder.trained(Kind::Float);
        let width = rank.cast_signed();
        Ok(Some(Self {
            module,
            dropout: Dropout::new(&builder.child("lora_dropout"), *dropout),
            first: Linear::new(&trained.child("lora_a"), inputs, width, false)?,
            // `lora_b` starts at 0, so that the adapter changes nothing at first.
            second: Linear::normal(&trained.child("lora_b"), width, outputs, false, 0.0)?,
            scale: alpha / *rank as f64,
        }))
    }

    /// Adds the adapter's output to that of the layer, and returns the sum in the dtype of the layer's output.
    pub(in crate::model) fn forward(&self, input: &Tensor, output: Tensor, pass: &Pass) -> Result<Tensor> {
        self.module.run(|| {
            let kind = output.kind();
            let input = input.f_to_kind(Kind::Float)?;
            let added = {
                let dropped = self.dropout.forward(&input, pass)?;
                let narrow = self.first.forward(&dropped)?;
                drop(dropped);
                let wide = self.second.forward(&narrow)?;
                drop(narrow);
                wide.multiply_number(self.scale)?
            };
            let mut sum = output.f_add(&added)?;
            drop(added);
            drop(output);
            sum = sum.f_to_kind(kind)?;
            drop(input);
            Ok(sum)
        })
    }
}

/// Value of `padding_idx` that no index has.
const NO_PADDING: i64 = -1;

/// `torch.nn.Embedding`: one row of features for every index.
#[derive(Debug)]
pub(in crate::model) struct Embedding {
    module: Module,
    weight: Tensor,
}

impl Embedding {
    /// Creates an embedding with normally distributed rows.
    pub(in crate::model) fn new(builder: &Builder, rows: i64, features: i64, deviation: f64) -> Result<Self> {
        let weight = builder.parameter("weight", &[rows, features], Init::Normal(deviation))?;
        Ok(Self { module: builder.module(), weight })
    }

    /// Returns the weight, of shape (rows, features).
    pub(in crate::model) fn weight(&self) -> &Tensor {
        &self.weight
    }

    pub(in crate::model) fn forward(&self, indices: &Tensor) -> Result<Tensor> {
        self.module.run(|| Tensor::f_embedding(&self.weight, indices, NO_PADDING, false, false))
    }
}
