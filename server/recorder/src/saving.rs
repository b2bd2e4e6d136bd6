//! Ways to save memory that are independent of the model: host memory, and a loss in chunks.
//!
//! [`Pass`](crate::pass::Pass) selects the layers to checkpoint; 8-bit state belongs to the optimizer.
//!
//! Ways that are Python code in PyTorch are implemented for real: selective checkpointing answers libtorch's dispatch
//! modes from C++, offloaded activations are saved-tensor hooks, and pinned memory on a virtual GPU is committed page
//! by page.
#![allow(unsafe_code, reason = "every call into shim/offload.cpp is here")]

use std::ffi::{c_char, c_void};

use shared::job::Job;
use tch::{Kind, Reduction, Tensor};

use crate::Result;
use crate::numbers::Numbers as _;
use crate::pass::Pass;
use crate::place::Module;
use crate::shim::check;

/// Label of tokens without a prediction: the one after the last token.
const IGNORED: i64 = -100;

/// Loss of a model, computed in chunks of the sequence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkedLoss {
    module: Module,
    chunks: i64,
    /// Pass of a chunk, which backward recomputes.
    pass: Pass,
}

impl ChunkedLoss {
    /// Returns the chunks of a job, if it has any; `module` is that of the loss.
    pub(crate) fn new(job: &Job, module: Module) -> Option<Self> {
        let chunks = job.saving.loss_chunks?.cast_signed();
        Some(Self { module, chunks, pass: Pass::of_training(job) })
    }

    /// Computes the mean loss of hidden states (samples, tokens, features); each predicts the label of the next token.
    ///
    /// # Errors
    ///
    /// Returns an error if an operation fails.
    pub(crate) fn causal<H>(self, hidden: &Tensor, labels: &Tensor, head: H) -> Result<Tensor>
    where
        H: Fn(&Tensor) -> Result<Tensor> + Clone + Send + 'static,
    {
        self.module.run(|| self.mean(hidden, labels, head))
    }

    fn mean<H>(self, hidden: &Tensor, labels: &Tensor, head: H) -> Result<Tensor>
    where
        H: Fn(&Tensor) -> Result<Tensor> + Clone + Send + 'static,
    {
        let padded = labels.f_pad([0, 1], "constant", IGNORED as f64)?;
        let targets = padded.f_slice(-1, 1, None, 1)?.f_contiguous()?;
        let counted = targets.not_equal_number(IGNORED)?;
        let count = counted.f_sum(None::<Kind>)?;
        let hidden_chunks = hidden.f_tensor_split(self.chunks, 1)?;
        let target_chunks = targets.f_tensor_split(self.chunks, 1)?;
        let mut total: Option<Tensor> = None;
        for (hidden, targets) in hidden_chunks.iter().zip(&target_chunks) {
            let (module, head) = (self.module, head.clone());
            let loss = self.pass.again(&[hidden, targets], move |tensors, _| module.run(|| sum(tensors, &head)))?;
            match &mut total {
                // Python's sum begins with the number 0.
                None => total = Some(loss.add_number(0.0)?),
                Some(total) => drop(total.f_add_(&loss)?),
            }
        }
        let mean = total.as_ref().map_or_else(|| hidden.f_sum(None::<Kind>), |total| total.f_div(&count));
        drop((padded, targets, counted));
        drop((hidden_chunks, target_chunks));
        mean
    }
}

/// Computes the sum of the losses of a chunk.
fn sum(tensors: &[&Tensor], head: &impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let &[hidden, targets] = tensors else { unreachable!("a chunk is hidden states and their labels") };
    let logits = head(hidden)?;
    let vocabulary = logits.size().last().copied().unwrap_or_default();
    let flat = logits.f_to_kind(Kind::Float)?.f_reshape([-1, vocabulary])?;
    let labels = targets.f_reshape([-1])?;
    let loss = flat.f_cross_entropy_loss(&labels, None::<&Tensor>, Reduction::Sum, IGNORED, 0.0)?;
    drop((flat, labels));
    drop(logits);
    Ok(loss)
}

type Pointer = *mut c_void;

unsafe extern "C" {
    fn snapscope_activations_on_host(on: bool) -> bool;
    fn snapscope_offload_new(gradients: bool, out: *mut Pointer) -> *mut c_char;
    fn snapscope_offload_delete(offload: Pointer);
    fn snapscope_offload_add(offload: Pointer, weight: Pointer) -> *mut c_char;
    fn snapscope_offload_step(offload: Pointer) -> *mut c_char;
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
        check(unsafe { snapscope_offload_add(self.offload, weight.as_ptr().cast_mut().cast()) })
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
