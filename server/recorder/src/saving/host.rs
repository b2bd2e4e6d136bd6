//! What waits in host memory: saved tensors, and an optimizer's state.
#![allow(unsafe_code, reason = "every call into shim/offload.cpp is here")]

use std::ffi::{c_char, c_void};

use tch::Tensor;

use crate::Result;
use crate::shim::check;

type Pointer = *mut c_void;

unsafe extern "C" {
    fn snapscope_activations_on_host(on: bool) -> bool;
    fn snapscope_offload_new(gradients: bool, out: *mut Pointer) -> *mut c_char;
    fn snapscope_offload_delete(offload: Pointer);
    fn snapscope_offload_add(offload: Pointer, weight: Pointer) -> *mut c_char;
    fn snapscope_offload_step(offload: Pointer) -> *mut c_char;
}

/// Runs `work` such that what its graph saves waits on the host: `torch.autograd.graph.save_on_cpu(pin_memory=True)`.
///
/// Weights that a graph saves go there too, as in Python.
///
/// # Errors
///
/// Those of `work`.
pub(crate) fn with_activations_on_host<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // SAFETY: no pointer is passed.
    let before = unsafe { snapscope_activations_on_host(true) };
    let result = work();
    // SAFETY: no pointer is passed.
    unsafe { snapscope_activations_on_host(before) };
    result
}

/// The part of an optimizer that is on the host: torchao's `CPUOffloadOptimizer`, but for the arithmetic of its steps.
#[derive(Debug)]
pub(crate) struct HostOptimizer {
    offload: Pointer,
}

impl HostOptimizer {
    /// An optimizer of no parameters yet; `gradients` frees those of the device once the host has them.
    ///
    /// # Errors
    ///
    /// CUDA has no further stream.
    pub(crate) fn new(gradients: bool) -> Result<Self> {
        let mut offload = std::ptr::null_mut();
        // SAFETY: without a message `offload` is written.
        check(unsafe { snapscope_offload_new(gradients, &mut offload) })?;
        Ok(Self { offload })
    }

    /// Takes a parameter: its gradient goes to the host as soon as backward has it.
    ///
    /// # Errors
    ///
    /// There is no pinned memory for its weight and gradient.
    pub(crate) fn add(&mut self, weight: &Tensor) -> Result<()> {
        // SAFETY: the shim copies the handle.
        check(unsafe { snapscope_offload_add(self.offload, weight.as_ptr().cast_mut().cast()) })
    }

    /// Waits for the gradients and brings the weights back.
    ///
    /// # Errors
    ///
    /// CUDA fails.
    pub(crate) fn step(&mut self) -> Result<()> {
        // SAFETY: the pointer comes from `new`.
        check(unsafe { snapscope_offload_step(self.offload) })
    }
}

impl Drop for HostOptimizer {
    fn drop(&mut self) {
        // SAFETY: backward passes, whose hooks point to it, end before a training is dropped.
        unsafe { snapscope_offload_delete(self.offload) }
    }
}
