//! Host memory as a way to save memory of the device: offloaded activations and optimizer state.
//!
//! [`Pass`](crate::pass::Pass) selects the layers to checkpoint; 8-bit state belongs to the optimizer.
//! Ways that are Python code in PyTorch are implemented for real: selective checkpointing answers libtorch's dispatch
//! modes from C++, offloaded activations are saved-tensor hooks, and pinned memory on a virtual GPU is committed page
//! by page.
#![allow(unsafe_code, reason = "every call into shim/offload.cpp is here")]

use tch::Tensor;

use crate::Result;
use crate::shim::{Message, Pointer, created};

unsafe extern "C" {
    safe fn snapscope_activations_on_host(on: bool) -> bool;
    fn snapscope_offload_new(gradients: bool, out: *mut Pointer) -> Message;
    fn snapscope_offload_delete(offload: Pointer);
}

/// Runs `work` with the saved tensors of its graph on the host: `torch.autograd.graph.save_on_cpu(pin_memory=True)`.
///
/// As in Python, this includes weights that the graph saves.
pub(crate) fn with_activations_on_host<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = snapscope_activations_on_host(true);
    let result = work();
    snapscope_activations_on_host(before);
    result
}

/// The host part of an optimizer: torchao's `CPUOffloadOptimizer` without the arithmetic of its steps.
#[derive(Debug)]
pub(crate) struct HostOptimizer(Pointer);

impl HostOptimizer {
    /// Creates an optimizer without parameters; `gradients` frees device gradients once they are copied to the host.
    ///
    /// # Errors
    ///
    /// Returns an error if CUDA has no further stream.
    pub(crate) fn new(gradients: bool) -> Result<Self> {
        // SAFETY: without a message `out` is written.
        created(|out| unsafe { snapscope_offload_new(gradients, out) }).map(Self)
    }
}

argument! { &HostOptimizer as Pointer = |optimizer| optimizer.0; }

wrap! { impl HostOptimizer {
    /// Adds a parameter, whose gradient is copied to the host as soon as backward has computed it.
    ///
    /// # Errors
    ///
    /// Returns an error if there is not enough pinned memory for its weight and gradient.
    pub(crate) fn add(&self, weight: &Tensor) = snapscope_offload_add;
    /// Waits for the gradients, and copies the weights back to the device.
    pub(crate) fn step(&self) = snapscope_offload_step;
} }

impl Drop for HostOptimizer {
    fn drop(&mut self) {
        // SAFETY: the hooks of backward point to it, and every backward pass ends before a training is dropped.
        unsafe { snapscope_offload_delete(self.0) }
    }
}
