//! FSDP2, `fully_shard`: this process has a shard of each parameter, and gathers those of a block while it computes.
//!
//! Shards are created one by one, so that no parameter is ever whole before its block runs. A script gets the same by
//! building the model on the meta device, sharding it, and calling `to_empty`.
//!
//! FSDP2 is Python: this reproduces its streams, events and lifetimes, because the stream that frees a block determines
//! how much is reserved. The collectives are left out, which use none of PyTorch's memory.

mod groups;

use shared::job::{Fsdp, Job};
use tch::{Kind, Tensor};

pub(crate) use self::groups::{Group, Sharded};
use crate::Result;
use crate::model::{Batch, Network, Output};
use crate::pass::Pass;
use crate::place::Module;

/// Module of what the root gathers and reduces.
const ROOT: &str = "fsdp";

/// Creates the group of the parameters that belong to no block, if the job shards the model.
pub(crate) fn root(job: &Job) -> Option<Group> {
    config(job).map(|fsdp| Group::root(fsdp, Module::named(ROOT)))
}

fn config(job: &Job) -> Option<Fsdp> {
    job.parallel.and_then(|parallel| parallel.fsdp())
}

/// A module of the model that gathers its own parameters, if the model is sharded.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    module: Module,
    group: Option<Group>,
}

// SAFETY: only one thread at a time runs a block, as with `Shared` of `pass::checkpoint`, and groups are never freed.
#[allow(unsafe_code, reason = "a group is a pointer into the shim")]
unsafe impl Send for Block {}

impl Block {
    /// Creates the block of a module; `root` is the group of the model's root.
    pub(crate) fn new(root: Option<Group>, module: Module) -> Self {
        Self { module, group: root.map(|root| root.block(module)) }
    }

    pub(crate) fn group(&self) -> Option<Group> {
        self.group
    }

    /// Runs the block on an input, in its module and with its gathered parameters.
    ///
    /// # Errors
    ///
    /// Returns the error of `work`, or an error if memory runs out for the parameters.
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

pub(super) struct FullyShard {
    root: Group,
    /// Dtype in which the model computes, if it differs from that of the weights.
    cast: Option<Kind>,
    network: Box<dyn Network>,
}

impl FullyShard {
    /// Wraps a model whose parameters were created by a builder with this group.
    pub(super) fn new(job: &Job, root: Group, network: Box<dyn Network>) -> Self {
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
