//! Groups of sharded parameters: bindings of `shim/fsdp.cpp`.
#![allow(unsafe_code, reason = "every call into shim/fsdp.cpp is here")]

use std::ffi::{c_char, c_void};

use shared::job;
use tch::{Kind, Tensor};

use crate::Result;
use crate::place::Module;
use crate::shim::check;

type Pointer = *mut c_void;
type Message = *mut c_char;

#[repr(C)]
struct RawPolicy {
    rank: i64,
    ranks: i64,
    reshard_after_forward: bool,
    mixed_precision: bool,
}

unsafe extern "C" {
    fn snapscope_fsdp_start(policy: RawPolicy) -> Pointer;
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
    fn snapscope_fsdp_pre_forward(group: Pointer, input: Pointer, out: *mut Pointer) -> Message;
    fn snapscope_fsdp_post_forward(group: Pointer, outputs: *const Pointer, count: usize) -> Message;
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
    /// Creates the group of the parameters that belong to no block.
    pub(super) fn root(fsdp: job::Fsdp, module: Module) -> Self {
        let policy = RawPolicy {
            rank: fsdp.rank.rank.cast_signed(),
            ranks: fsdp.rank.ranks.cast_signed(),
            reshard_after_forward: fsdp.reshard_after_forward,
            mixed_precision: fsdp.mixed_precision,
        };
        // SAFETY: the policy has the layout of the shim's struct.
        let context = unsafe { snapscope_fsdp_start(policy) };
        Self::new(context, module)
    }

    /// Creates the group of a block of the same model.
    pub(super) fn block(self, module: Module) -> Self {
        Self::new(self.context, module)
    }

    fn new(context: Pointer, module: Module) -> Self {
        // SAFETY: the context is never freed.
        Self { context, group: unsafe { snapscope_fsdp_group(context, module.number()) } }
    }

    /// Creates a parameter of this group, as 32-bit floats or bfloat16.
    ///
    /// # Errors
    ///
    /// Returns an error if memory runs out for the shard.
    pub(crate) fn parameter(self, module: Module, shape: &[i64], kind: Kind) -> Result<Sharded> {
        let (mut shard, mut whole) = (std::ptr::null_mut(), std::ptr::null_mut());
        let bfloat16 = kind == Kind::BFloat16;
        // SAFETY: groups are never freed, and the sizes are copied.
        let made = unsafe {
            let sizes = (shape.as_ptr(), shape.len());
            snapscope_fsdp_parameter(self.group, module.number(), sizes.0, sizes.1, bfloat16, &mut shard, &mut whole)
        };
        check(made)?;
        // SAFETY: without a message both are new handles that belong to the caller.
        Ok(unsafe { Sharded { shard: Tensor::from_ptr(shard.cast()), whole: Tensor::from_ptr(whole.cast()) } })
    }

    /// Gathers the parameters, and returns the input that the module has to read.
    ///
    /// # Errors
    ///
    /// Returns an error if memory runs out for the parameters.
    pub(super) fn pre_forward(self, input: &Tensor) -> Result<Tensor> {
        let mut out = std::ptr::null_mut();
        // SAFETY: groups are never freed, and the input outlives the call.
        check(unsafe { snapscope_fsdp_pre_forward(self.group, pointer(input), &mut out) })?;
        // SAFETY: without a message it is a new handle that belongs to the caller.
        Ok(unsafe { Tensor::from_ptr(out.cast()) })
    }

    /// Frees the gathered parameters until backward reaches one of the outputs.
    ///
    /// The root keeps them; so does every group without `reshard_after_forward`.
    ///
    /// # Errors
    ///
    /// Returns an error if CUDA fails.
    pub(super) fn post_forward(self, outputs: &[&Tensor]) -> Result<()> {
        let outputs: Vec<_> = outputs.iter().map(|tensor| pointer(tensor)).collect();
        // SAFETY: groups are never freed, and the outputs outlive the call.
        check(unsafe { snapscope_fsdp_post_forward(self.group, outputs.as_ptr(), outputs.len()) })
    }
}

fn pointer(tensor: &Tensor) -> Pointer {
    tensor.as_ptr().cast_mut().cast()
}
