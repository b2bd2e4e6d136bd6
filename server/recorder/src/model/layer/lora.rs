//! Low-rank adapters beside linear layers, as peft's `lora.Linear` adds them.

use shared::job::Lora;
use tch::{Kind, Tensor};

use super::{Dropout, Linear};
use crate::Result;
use crate::builder::Builder;
use crate::numbers::Numbers as _;
use crate::pass::Pass;
use crate::place::Module;

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
        let Some(Lora { rank, alpha, dropout, .. }) = builder.lora().filter(|lora| lora.adapts(&module.path())) else {
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
