//! Transfers between the processes of a tensor-parallel group: bindings of `shim/tensor.cpp`.
#![allow(unsafe_code, reason = "every call into shim/tensor.cpp is here")]

use std::ffi::{c_char, c_void};

use tch::Tensor;

use crate::Result;
use crate::shim::check;

type Pointer = *mut c_void;
type Message = *mut c_char;

/// Part of each layer that this process has.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    /// Number of the process, from 0.
    pub(super) rank: i64,
    /// Number of processes.
    pub(super) ranks: i64,
}

unsafe extern "C" {
    fn snapscope_tensor_fork(input: Pointer, first: *mut Pointer, second: *mut Pointer) -> Message;
    fn snapscope_tensor_enter(input: Pointer, out: *mut Pointer) -> Message;
    fn snapscope_tensor_leave(part: Pointer, out: *mut Pointer) -> Message;
    fn snapscope_tensor_gather_tokens(part: Pointer, share: Share, late: bool, out: *mut Pointer) -> Message;
    fn snapscope_tensor_gather_features(part: Pointer, share: Share, out: *mut Pointer) -> Message;
    fn snapscope_tensor_scatter(part: Pointer, share: Share, out: *mut Pointer, read: *mut Pointer) -> Message;
    fn snapscope_tensor_embedding(weight: Pointer, indices: Pointer, share: Share, out: *mut Pointer) -> Message;
}

fn pointer(tensor: &Tensor) -> Pointer {
    tensor.as_ptr().cast_mut().cast()
}

fn take(pointer: Pointer) -> Tensor {
    // SAFETY: without a message the shim has made a new tensor, which belongs to the caller.
    unsafe { Tensor::from_ptr(pointer.cast()) }
}

fn made(operation: impl FnOnce(*mut Pointer) -> Message) -> Result<Tensor> {
    let mut out = std::ptr::null_mut();
    check(operation(&mut out))?;
    Ok(take(out))
}

/// Returns handles for two readers of a tensor; in backward, the first reader's gradient arrives first.
///
/// The two gradients are summed in a new tensor.
///
/// # Errors
///
/// Returns an error if an operation fails, like the functions below.
pub(super) fn fork(input: &Tensor) -> Result<[Tensor; 2]> {
    let (mut first, mut second) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the input outlives the call.
    check(unsafe { snapscope_tensor_fork(pointer(input), &mut first, &mut second) })?;
    Ok([take(first), take(second)])
}

/// Returns the input for a layer that is split by its outputs; its gradient is summed over the processes.
pub(super) fn enter(input: &Tensor) -> Result<Tensor> {
    // SAFETY: the input outlives the call.
    made(|out| unsafe { snapscope_tensor_enter(pointer(input), out) })
}

/// Sums the outputs of a layer that is split by its inputs over the processes.
pub(super) fn leave(part: &Tensor) -> Result<Tensor> {
    // SAFETY: the part outlives the call.
    made(|out| unsafe { snapscope_tensor_leave(pointer(part), out) })
}

/// Gathers the tokens of all processes; with `late`, the reader of their gradient waits for its collective.
pub(super) fn gather_tokens(part: &Tensor, share: Share, late: bool) -> Result<Tensor> {
    // SAFETY: the part outlives the call.
    made(|out| unsafe { snapscope_tensor_gather_tokens(pointer(part), share, late, out) })
}

/// Gathers the features of all processes.
pub(super) fn gather_features(part: &Tensor, share: Share) -> Result<Tensor> {
    // SAFETY: the part outlives the call.
    made(|out| unsafe { snapscope_tensor_gather_features(pointer(part), share, out) })
}

/// Returns this process's tokens of the sum, and the collective's input, to be kept until somebody waits for it.
pub(super) fn scatter(part: &Tensor, share: Share) -> Result<(Tensor, Tensor)> {
    // SAFETY: the part outlives the call.
    let mut read = std::ptr::null_mut();
    let part = made(|out| unsafe { snapscope_tensor_scatter(pointer(part), share, out, &mut read) })?;
    Ok((part, take(read)))
}

/// Looks up rows in this process's part of an embedding; tokens of other parts get its first row instead.
pub(super) fn embedding(weight: &Tensor, indices: &Tensor, share: Share) -> Result<Tensor> {
    // SAFETY: both outlive the call; the graph has handles of its own.
    made(|out| unsafe { snapscope_tensor_embedding(pointer(weight), pointer(indices), share, out) })
}
