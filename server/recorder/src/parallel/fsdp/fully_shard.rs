//! The whole model, sharded.

use shared::job::Job;
use tch::{Kind, Tensor};

use super::groups::Group;
use super::{ROOT, config};
use crate::Result;
use crate::model::{Batch, Network, Output};
use crate::pass::Pass;
use crate::place::Module;

/// A sharded model, which casts its inputs and gathers the parameters that belong to no block.
pub(in crate::parallel) struct FullyShard {
    root: Group,
    /// Dtype in which the model computes, if it differs from that of the weights.
    cast: Option<Kind>,
    network: Box<dyn Network>,
}

impl FullyShard {
    /// Wraps a model whose parameters were created by a builder with this group.
    pub(in crate::parallel) fn new(job: &Job, root: Group, network: Box<dyn Network>) -> Self {
        let mixed = config(job).is_some_and(|fsdp| fsdp.mixed_precision);
        Self { root, cast: mixed.then_some(Kind::BFloat16), network }
    }

    /// Casts the inputs of the model: `cast_forward_inputs`.
    fn inputs(&self, batch: &Batch) -> Result<Batch> {
        let cast = |(name, tensor): &(&'static str, Tensor)| -> Result<(&'static str, Tensor)> {
            match self.cast {
                Some(kind) if tensor.is_floating_point() => Ok((*name, tensor.f_to_kind(kind)?)),
                _ => Ok((*name, tensor.shallow_clone())),
            }
        };
        batch.iter().map(cast).collect()
    }
}

impl Network for FullyShard {
    fn batch(&self, samples: i64) -> Result<Batch> {
        self.network.batch(samples)
    }

    fn forward(&self, batch: &Batch, pass: &Pass) -> Result<Output> {
        let batch = self.inputs(batch)?;
        // No input of a model requires a gradient, so that the root needs no node: it comes last in backward anyway.
        Module::named(ROOT).run(|| self.root.pre_forward(&batch[0].1).map(drop))?;
        let mut output = self.network.forward(&batch, pass)?;
        output.locals.extend(batch.into_iter().next().map(|(_, input)| input));
        Ok(output)
    }

    fn loss(&self, output: &Output, batch: &Batch) -> Result<Tensor> {
        self.network.loss(output, batch)
    }

    fn hand_on(&self, output: &mut Output, loss: Tensor) -> Result<Tensor> {
        // The arguments of a call outlive its hooks.
        let input = output.locals.pop();
        output.locals.clear();
        self.root.post_forward(&[&loss, &output.logits])?;
        drop(input);
        Ok(loss)
    }

    fn output_holds_loss(&self) -> bool {
        self.network.output_holds_loss()
    }
}
