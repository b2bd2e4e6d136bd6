//! `DistributedDataParallel`: this process has the whole model, and averages its gradients with other processes.
//!
//! The gradients go through buckets, which together are as large as the gradients. c10d's own reducer makes the
//! buckets; the other processes are assumed to have the same tensors as this one.
#![allow(unsafe_code, reason = "every call into shim/ddp.cpp is here")]

use std::cell::Cell;
use std::ffi::c_int;

use shared::job::{self, Job, Rank};
use tch::Tensor;

use crate::Result;
use crate::builder::Builder;
use crate::model::{Batch, Network, Output};
use crate::pass::Pass;
use crate::place::Module;
use crate::shim::{Message, Pointer, RawList, check, created, owned, pointer, pointers};

/// Parent module of the buckets, and module of the checks and copies at the start.
const MODULE: &str = "ddp";

#[repr(C)]
struct RawOptions {
    rank: c_int,
    ranks: c_int,
    bucket_bytes: i64,
    gradient_as_bucket_view: bool,
    static_graph: bool,
    find_unused_parameters: bool,
    bucket_module: extern "C" fn(u32) -> u32,
}

unsafe extern "C" {
    fn snapscope_ddp_new(parameters: RawList, buffers: RawList, options: RawOptions, out: *mut Pointer) -> Message;
    fn snapscope_ddp_free(ddp: Pointer);
    fn snapscope_ddp_after_forward(ddp: Pointer, synchronize: bool, outputs: RawList, out: *mut Pointer) -> Message;
}

/// Returns the module of the bucket with this number.
extern "C" fn bucket_module(number: u32) -> u32 {
    Module::named(MODULE).named_child(&format!("bucket {number}")).number()
}

/// A model whose gradients are averaged over the processes.
pub(super) struct Ddp {
    reducer: Reducer,
    network: Box<dyn Network>,
    accumulation: u64,
    /// Number of forward passes of the current step so far.
    passes: Cell<u64>,
    /// False if the current pass runs under `no_sync()`, that is without a reduction after it.
    synchronize: Cell<bool>,
}

impl Ddp {
    /// Wraps a model that is on the device.
    pub(super) fn new(
        job: &Job,
        rank: Rank,
        config: job::Ddp,
        network: Box<dyn Network>,
        builder: &Builder,
    ) -> Result<Self> {
        let [parameters, buffers] = builder.tensors().map(|list| list.into_iter().map(|(_, tensor)| tensor).collect());
        let reducer = Module::named(MODULE).run(|| Reducer::new(parameters, buffers, rank, config))?;
        let (passes, synchronize) = (Cell::new(0), Cell::new(true));
        Ok(Self { reducer, network, accumulation: job.accumulation, passes, synchronize })
    }

    /// Returns false under `no_sync()`, that is for all training passes of a step but the last.
    fn synchronizes(&self, pass: &Pass) -> bool {
        if !pass.training {
            return true;
        }
        let passes = (self.passes.get() + 1) % self.accumulation;
        self.passes.set(passes);
        passes == 0
    }
}

impl Network for Ddp {
    fn batch(&self, samples: i64) -> Result<Batch> {
        self.network.batch(samples)
    }

    fn forward(&self, batch: &Batch, pass: &Pass) -> Result<Output> {
        let synchronize = self.synchronizes(pass);
        self.synchronize.set(synchronize);
        Module::named(MODULE).run(|| self.reducer.before_forward(synchronize))?;
        let mut output = self.network.forward(batch, pass)?;
        if !self.output_holds_loss() {
            let handed_on = Module::named(MODULE).run(|| self.reducer.after_forward(synchronize, [&output.logits]))?;
            let [logits] = handed_on;
            output.logits = logits;
        }
        Ok(output)
    }

    fn loss(&self, output: &Output, batch: &Batch) -> Result<Tensor> {
        self.network.loss(output, batch)
    }

    /// Ends the forward pass of a model that computes its loss itself.
    fn hand_on(&self, output: &mut Output, loss: Tensor) -> Result<Tensor> {
        if !self.output_holds_loss() {
            return Ok(loss);
        }
        let outputs = [&loss, &output.logits];
        let after = || self.reducer.after_forward(self.synchronize.get(), outputs);
        let [handed_on, logits] = Module::named(MODULE).run(after)?;
        drop(loss);
        output.logits = logits;
        Ok(handed_on)
    }

    fn output_holds_loss(&self) -> bool {
        self.network.output_holds_loss()
    }
}

/// c10d's reducer with its process group.
struct Reducer(Pointer);

impl Reducer {
    fn new(parameters: Vec<Tensor>, buffers: Vec<Tensor>, rank: Rank, config: job::Ddp) -> Result<Self> {
        let options = RawOptions {
            rank: c_int::try_from(rank.rank).unwrap_or(c_int::MAX),
            ranks: c_int::try_from(rank.ranks).unwrap_or(c_int::MAX),
            bucket_bytes: config.bucket_mb.map_or(0, |size| (size << 20).cast_signed()),
            gradient_as_bucket_view: config.gradient_as_bucket_view,
            static_graph: config.static_graph,
            find_unused_parameters: config.find_unused_parameters,
            bucket_module,
        };
        let (parameters_raw, buffers_raw) = (pointers(&parameters), pointers(&buffers));
        let (parameters_raw, buffers_raw) = (RawList::of(&parameters_raw), RawList::of(&buffers_raw));
        // SAFETY: the tensors outlive the call, which keeps handles of its own; without a message `out` belongs to this
        // process.
        created(|out| unsafe { snapscope_ddp_new(parameters_raw, buffers_raw, options, out) }).map(Self)
    }

    /// Runs `_post_forward`, and returns the tensors that the caller gets in place of the outputs.
    fn after_forward<const N: usize>(&self, synchronize: bool, outputs: [&Tensor; N]) -> Result<[Tensor; N]> {
        let outputs = outputs.map(pointer);
        let mut out = [std::ptr::null_mut(); N];
        // SAFETY: the outputs outlive the call, and `out` has room for as many.
        check(unsafe { snapscope_ddp_after_forward(self.0, synchronize, RawList::of(&outputs), out.as_mut_ptr()) })?;
        Ok(out.map(owned))
    }
}

argument! { &Reducer as Pointer = |reducer| reducer.0; }

wrap! { impl Reducer {
    /// Runs `_pre_forward`: rebuilds the buckets, and broadcasts the buffers of the first process.
    fn before_forward(&self, synchronize: bool) = snapscope_ddp_before_forward;
} }

impl Drop for Reducer {
    fn drop(&mut self) {
        // SAFETY: the pointer comes from `new`, and is freed once.
        unsafe { snapscope_ddp_free(self.0) }
    }
}
