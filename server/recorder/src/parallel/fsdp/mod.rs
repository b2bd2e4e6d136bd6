//! FSDP2, `fully_shard`: this process has a part of each parameter, and gathers those of a block while it computes.
//!
//! Shards are made one by one, so that no parameter is ever whole before its block runs: as a model that is built on
//! the meta device, sharded, and brought to the device with `to_empty`.

mod groups;

use shared::job::{Fsdp, Job};
use tch::{Kind, Tensor};

pub(crate) use self::groups::{Group, Sharded};
use crate::Result;
use crate::model::{Batch, Network, Output};
use crate::pass::Pass;
use crate::place::Module;

/// Where what the root gathers and reduces is written down.
const ROOT: &str = "fsdp";

/// The group of what no block of the model has, if the job shards it.
pub(crate) fn root(job: &Job) -> Option<Group> {
    config(job).map(|fsdp| Group::root(fsdp, Module::named(ROOT)))
}

fn config(job: &Job) -> Option<Fsdp> {
    job.parallel.and_then(|parallel| parallel.fsdp())
}

/// A module of the model that gathers its own parameters, where the model is sharded.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    module: Module,
    group: Option<Group>,
}

// SAFETY: see `Shared` of `pass::checkpoint`: one thread at a time runs a block. Groups live for ever.
#[allow(unsafe_code, reason = "a group is a pointer into the shim")]
unsafe impl Send for Block {}

impl Block {
    /// The block that is this module, beside the root of the model.
    pub(crate) fn new(root: Option<Group>, module: Module) -> Self {
        Self { module, group: root.map(|root| root.block(module)) }
    }

    /// The group that parameters of the block belong to.
    pub(crate) fn group(&self) -> Option<Group> {
        self.group
    }

    /// Runs the block on an input, in its module and with its parameters.
    ///
    /// # Errors
    ///
    /// Those of `work`, or there is no memory for the parameters.
    pub fn run(&self, input: &Tensor, work: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
        self.module.run(|| {
            let Some(group) = self.group else { return work(input) };
            let input = group.pre_forward(input)?;
            let output = work(&input)?;
            group.post_forward(&[&output])?;
            Ok(output)
        })
    }
}

/// A model whose parameters are sharded.
pub(super) struct FullyShard {
    root: Group,
    /// The number format in which the model computes, where it is not the weights'.
    cast: Option<Kind>,
    network: Box<dyn Network>,
}

impl FullyShard {
    /// Wraps a model whose parameters were made by a builder with this group.
    pub(super) fn new(job: &Job, root: Group, network: Box<dyn Network>) -> Self {
        let mixed = config(job).is_some_and(|fsdp| fsdp.mixed_precision);
        Self { root, cast: mixed.then_some(Kind::BFloat16), network }
    }

    /// What the model is given: `cast_forward_inputs`.
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
        // No input of a model asks for a gradient: the root comes last in backward without a node of its own.
        Module::named(ROOT).run(|| self.root.pre_forward(&batch[0].1).map(drop))?;
        let mut output = self.network.forward(&batch, pass)?;
        output.locals.extend(batch.into_iter().next().map(|(_, input)| input));
        Ok(output)
    }

    fn loss(&self, output: &Output, batch: &Batch) -> Result<Tensor> {
        self.network.loss(output, batch)
    }

    fn hand_on(&self, output: &mut Output, loss: Tensor) -> Result<Tensor> {
        // The arguments of a call outlive the hooks behind it.
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
