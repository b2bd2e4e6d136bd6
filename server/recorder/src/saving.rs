//! Host memory as a way to save memory of the device: offloaded activations and optimizer state.
//!
//! [`Pass`](crate::pass::Pass) selects the layers to checkpoint; 8-bit state belongs to the optimizer.
//! Ways that are Python code in PyTorch are implemented for real: selective checkpointing answers libtorch's dispatch
//! modes from C++, offloaded activations are saved-tensor hooks, and pinned memory on a virtual GPU is committed page
//! by page.
#![allow(unsafe_code, reason = "every call into shim/offload.cpp is here")]

use tch::Tensor;

use crate::Result;
use crate::shim::{Message, Pointer, check, pointer};

unsafe extern "C" {
    fn snapscope_activations_on_host(on: bool) -> bool;
    fn snapscope_offload_new(gradients: bool, out: *mut Pointer) -> Message;
    fn snapscope_offload_delete(offload: Pointer);
    fn snapscope_offload_add(offload: Pointer, weight: Pointer) -> Message;
    fn snapscope_offload_step(offload: Pointer) -> Message;
}

/// Runs `work` with the saved tensors of its graph on the host: `torch.autograd.graph.save_on_cpu(pin_memory=True)`.
///
/// As in Python, this includes weights that the graph saves.
///
/// # Errors
///
/// Returns the error of `work`.
pub(crate) fn with_activations_on_host<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // SAFETY: no pointer is passed.
    let before = unsafe { snapscope_activations_on_host(true) };
    let result = work();
    // SAFETY: no pointer is passed.
    unsafe { snapscope_activations_on_host(before) };
    result
}

/// The host part of an optimizer: torchao's `CPUOffloadOptimizer` without the arithmetic of its steps.
#[derive(Debug)]
pub(crate) struct HostOptimizer {
    offload: Pointer,
}

impl HostOptimizer {
    /// Creates an optimizer without parameters; `gradients` frees device gradients once they are copied to the host.
    ///
    /// # Errors
    ///
    /// Returns an error if CUDA has no further stream.
    pub(crate) fn new(gradients: bool) -> Result<Self> {
        let mut offload = std::ptr::null_mut();
        // SAFETY: without a message `offload` is written.
        check(unsafe { snapscope_offload_new(gradients, &mut offload) })?;
        Ok(Self { offload })
    }

    /// Adds a parameter, whose gradient is copied to the host as soon as backward has computed it.
    ///
    /// # Errors
    ///
    /// Returns an error if there is not enough pinned memory for its weight and gradient.
    pub(crate) fn add(&mut self, weight: &Tensor) -> Result<()> {
        // SAFETY: the shim copies the handle.
        check(unsafe { snapscope_offload_add(self.offload, pointer(weight)) })
    }

    /// Waits for the gradients, and copies the weights back to the device.
    ///
    /// # Errors
    ///
    /// Returns an error if CUDA fails.
    pub(crate) fn step(&mut self) -> Result<()> {
        // SAFETY: the pointer comes from `new`.
        check(unsafe { snapscope_offload_step(self.offload) })
    }
}

impl Drop for HostOptimizer {
    fn drop(&mut self) {
        // SAFETY: the hooks of backward point to it, and every backward pass ends before a training is dropped.
        unsafe { snapscope_offload_delete(self.offload) }
    }
}
