//! Groups of sharded parameters: the functions of `shim/fsdp.cpp`.
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
/// The shim owns groups and never frees them: nodes of a graph call them back, and a process trains one model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group {
    context: Pointer,
    group: Pointer,
}

/// What becomes of one parameter.
#[derive(Debug)]
pub(crate) struct Sharded {
    /// This process's part, which the optimizer changes.
    pub(crate) shard: Tensor,
    /// What layers read: it has memory while its group is gathered.
    pub(crate) whole: Tensor,
}

impl Group {
    /// The group of a model's own parameters, those that no block has.
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

    /// The group of a block of the same model.
    pub(super) fn block(self, module: Module) -> Self {
        Self::new(self.context, module)
    }

    fn new(context: Pointer, module: Module) -> Self {
        // SAFETY: the context lives for ever.
        Self { context, group: unsafe { snapscope_fsdp_group(context, module.number()) } }
    }

    /// A parameter of this group, in 32 bits or bfloat16.
    ///
    /// # Errors
    ///
    /// There is no memory for the shard.
    pub(crate) fn parameter(self, module: Module, shape: &[i64], kind: Kind) -> Result<Sharded> {
        let (mut shard, mut whole) = (std::ptr::null_mut(), std::ptr::null_mut());
        let bfloat16 = kind == Kind::BFloat16;
        // SAFETY: groups live for ever, and the sizes are copied.
        let made = unsafe {
            let sizes = (shape.as_ptr(), shape.len());
            snapscope_fsdp_parameter(self.group, module.number(), sizes.0, sizes.1, bfloat16, &mut shard, &mut whole)
        };
        check(made)?;
        // SAFETY: without a message both are new handles that belong to the caller.
        Ok(unsafe { Sharded { shard: Tensor::from_ptr(shard.cast()), whole: Tensor::from_ptr(whole.cast()) } })
    }

    /// Gathers the parameters, and yields the input as the module is to read it.
    ///
    /// # Errors
    ///
    /// There is no memory for the parameters.
    pub(super) fn pre_forward(self, input: &Tensor) -> Result<Tensor> {
        let mut out = std::ptr::null_mut();
        // SAFETY: groups live for ever, and the input outlives the call.
        check(unsafe { snapscope_fsdp_pre_forward(self.group, pointer(input), &mut out) })?;
        // SAFETY: without a message it is a new handle that belongs to the caller.
        Ok(unsafe { Tensor::from_ptr(out.cast()) })
    }

    /// Frees the parameters until backward comes to one of the outputs.
    ///
    /// # Errors
    ///
    /// CUDA fails.
    pub(super) fn post_forward(self, outputs: &[&Tensor]) -> Result<()> {
        let outputs: Vec<_> = outputs.iter().map(|tensor| pointer(tensor)).collect();
        // SAFETY: groups live for ever, and the outputs outlive the call.
        check(unsafe { snapscope_fsdp_post_forward(self.group, outputs.as_ptr(), outputs.len()) })
    }
}

fn pointer(tensor: &Tensor) -> Pointer {
    tensor.as_ptr().cast_mut().cast()
}
