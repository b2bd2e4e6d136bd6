//! FSDP2, `fully_shard`: this process has a shard of each parameter, and gathers those of a block while it computes.
//!
//! Shards are created one by one, so that no parameter is ever whole before its block runs. A script gets the same by
//! building the model on the meta device, sharding it, and calling `to_empty`.
//!
//! FSDP2 is Python: this reproduces its streams, events and lifetimes, because the stream that frees a block determines
//! how much is reserved. The collectives are left out, which use none of PyTorch's memory.

mod fully_shard;
mod groups;

use shared::job::{Fsdp, Job};
use tch::Tensor;

pub(super) use self::fully_shard::FullyShard;
pub(crate) use self::groups::{Group, Sharded};
use crate::Result;
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
