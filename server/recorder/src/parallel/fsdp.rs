//! FSDP2, `fully_shard`: this process has a shard of each parameter, and gathers those of a block while it computes.
//!
//! Shards are created one by one, so that no parameter is ever whole before its block runs. A script gets the same by
//! building the model on the meta device, sharding it, and calling `to_empty`.
//!
//! FSDP2 is Python: this reproduces its streams, events and lifetimes, because the stream that frees a block determines
//! how much is reserved. The collectives are left out, which use none of PyTorch's memory.
#![allow(unsafe_code, reason = "every call into shim/fsdp.cpp is here")]

use shared::job::{Fsdp, Job};
use tch::{Kind, Tensor};

use crate::Result;
use crate::model::{Batch, Network, Output};
use crate::pass::Pass;
use crate::place::Module;
use crate::shim::{Message, Pointer, RawList, check, owned, pointers};

/// Module of what the root gathers and reduces.
const ROOT: &str = "fsdp";

/// Creates the group of the parameters that belong to no block, if the job shards the model.
pub(crate) fn root(job: &Job) -> Option<Group> {
    let fsdp = config(job)?;
    let policy = RawPolicy {
        rank: fsdp.rank.rank.cast_signed(),
        ranks: fsdp.rank.ranks.cast_signed(),
        reshard_after_forward: fsdp.reshard_after_forward,
        mixed_precision: fsdp.mixed_precision,
    };
    let module = Module::named(ROOT);
    Some(Group::new(snapscope_fsdp_start(policy), module))
}

fn config(job: &Job) -> Option<Fsdp> {
    job.parallel.and_then(|parallel| parallel.fsdp())
}

/// A module of the model that gathers its own parameters, if the model is sharded.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    module: Module,
    pub(crate) group: Option<Group>,
}

// SAFETY: only one thread at a time runs a block, as with `Shared` of `pass::checkpoint`, and groups are never freed.
unsafe impl Send for Block {}

impl Block {
    /// Creates the block of a module; `root` is the group of the model's root.
    pub(crate) fn new(root: Option<Group>, module: Module) -> Self {
        Self { module, group: root.map(|root| root.block(module)) }
    }

    /// Runs the block on an input, in its module and with its gathered parameters.
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

#[repr(C)]
struct RawPolicy {
    rank: i64,
    ranks: i64,
    reshard_after_forward: bool,
    mixed_precision: bool,
}

unsafe extern "C" {
    safe fn snapscope_fsdp_start(policy: RawPolicy) -> Pointer;
    fn snapscope_fsdp_group(context: Pointer, module: u32) -> Pointer;
    fn snapscope_fsdp_parameter(
        group: Pointer,
        module: u32,
        sizes: *const i64,
        dimensions: usize,
        bfloat16: bool,
        shard: *mut Pointer,
        whole: *mut Pointer,
    ) -> Message;
    fn snapscope_fsdp_post_forward(group: Pointer, outputs: RawList) -> Message;
}

/// Parameters that are gathered, used and reduced together.
///
/// The shim owns groups and never frees them, because nodes of the graph call them and a process trains only one model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group {
    context: Pointer,
    group: Pointer,
}

/// The two tensors of a sharded parameter.
#[derive(Debug)]
pub(crate) struct Sharded {
    /// This process's part, which the optimizer updates.
    pub(crate) shard: Tensor,
    /// The tensor that layers read; it has memory only while its group is gathered.
    pub(crate) whole: Tensor,
}

impl Group {
    /// Creates the group of a block of the same model.
    pub(super) fn block(self, module: Module) -> Self {
        Self::new(self.context, module)
    }

    fn new(context: Pointer, module: Module) -> Self {
        // SAFETY: the context is never freed.
        Self { context, group: unsafe { snapscope_fsdp_group(context, module.number()) } }
    }

    /// Creates a parameter of this group, as 32-bit floats or bfloat16.
    pub(crate) fn parameter(self, module: Module, shape: &[i64], kind: Kind) -> Result<Sharded> {
        let (mut shard, mut whole) = (std::ptr::null_mut(), std::ptr::null_mut());
        let bfloat16 = kind == Kind::BFloat16;
        // SAFETY: groups are never freed, and the sizes are copied.
        let made = unsafe {
            let sizes = (shape.as_ptr(), shape.len());
            snapscope_fsdp_parameter(self.group, module.number(), sizes.0, sizes.1, bfloat16, &mut shard, &mut whole)
        };
        check(made)?;
        Ok(Sharded { shard: owned(shard), whole: owned(whole) })
    }

    /// Frees the gathered parameters until backward reaches one of the outputs.
    ///
    /// The root keeps them; so does every group without `reshard_after_forward`.
    pub(super) fn post_forward(self, outputs: &[&Tensor]) -> Result<()> {
        let outputs = pointers(outputs.iter().copied());
        // SAFETY: groups are never freed, and the outputs outlive the call.
        check(unsafe { snapscope_fsdp_post_forward(self.group, RawList::of(&outputs)) })
    }
}

argument! { &Group as Pointer = |group| group.group; }

wrap! { impl Group {
    /// Gathers the parameters, and returns the input that the module has to read.
    pub(super) fn pre_forward(&self, input: &Tensor) -> Tensor = snapscope_fsdp_pre_forward;
} }

/// A sharded model, which casts its inputs and gathers the parameters that belong to no block.
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
