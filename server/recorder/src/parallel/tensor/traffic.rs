//! What goes between the processes of a tensor-parallel group: the functions of `shim/tensor.cpp`.
#![allow(unsafe_code, reason = "every call into shim/tensor.cpp is here")]

use std::ffi::{c_char, c_void};

use tch::Tensor;

use crate::Result;
use crate::shim::check;

type Pointer = *mut c_void;
type Message = *mut c_char;

/// Which part of each layer this process has.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    /// The process, from 0.
    pub(super) rank: i64,
    /// How many there are.
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

/// A tensor for two readers, the first of which has its gradient first; these are added up in a tensor of their own.
///
/// # Errors
///
/// As for any operation; the same holds for the functions below.
pub(super) fn fork(input: &Tensor) -> Result<[Tensor; 2]> {
    let (mut first, mut second) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the input outlives the call.
    check(unsafe { snapscope_tensor_fork(pointer(input), &mut first, &mut second) })?;
    Ok([take(first), take(second)])
}

/// The input of a layer that is divided by its outputs; its gradient is summed over the processes.
pub(super) fn enter(input: &Tensor) -> Result<Tensor> {
    // SAFETY: the input outlives the call.
    made(|out| unsafe { snapscope_tensor_enter(pointer(input), out) })
}

/// The sum over the processes of what a layer gives that is divided by its inputs.
pub(super) fn leave(part: &Tensor) -> Result<Tensor> {
    // SAFETY: the part outlives the call.
    made(|out| unsafe { snapscope_tensor_leave(pointer(part), out) })
}

/// The tokens of all processes; `late` says that in backward their gradient is waited for by its reader.
pub(super) fn gather_tokens(part: &Tensor, share: Share, late: bool) -> Result<Tensor> {
    // SAFETY: the part outlives the call.
    made(|out| unsafe { snapscope_tensor_gather_tokens(pointer(part), share, late, out) })
}

/// The features of all processes.
pub(super) fn gather_features(part: &Tensor, share: Share) -> Result<Tensor> {
    // SAFETY: the part outlives the call.
    made(|out| unsafe { snapscope_tensor_gather_features(pointer(part), share, out) })
}

/// This process's tokens of the sum, and what the collective reads until they are waited for.
pub(super) fn scatter(part: &Tensor, share: Share) -> Result<(Tensor, Tensor)> {
    // SAFETY: the part outlives the call.
    let mut read = std::ptr::null_mut();
    let part = made(|out| unsafe { snapscope_tensor_scatter(pointer(part), share, out, &mut read) })?;
    Ok((part, take(read)))
}

/// The rows of a part of an embedding; tokens of other parts have none.
pub(super) fn embedding(weight: &Tensor, indices: &Tensor, share: Share) -> Result<Tensor> {
    // SAFETY: both outlive the call; the graph has handles of its own.
    made(|out| unsafe { snapscope_tensor_embedding(pointer(weight), pointer(indices), share, out) })
}
