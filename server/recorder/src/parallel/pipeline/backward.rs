//! Backward of a stage that is not the last one: it starts with a received gradient.
#![allow(unsafe_code, reason = "tch begins backward at a scalar only")]

use std::ffi::{c_char, c_void};

use tch::Tensor;

use crate::Result;
use crate::shim::check;

unsafe extern "C" {
    fn snapscope_backward_from(output: *mut c_void, gradient: *mut c_void) -> *mut c_char;
    fn snapscope_reset_gradient(tensor: *mut c_void);
}

fn pointer(tensor: &Tensor) -> *mut c_void {
    tensor.as_ptr().cast_mut().cast()
}

/// Runs `torch.autograd.backward(output, gradient)`.
///
/// # Errors
///
/// Returns an error if an operation fails.
pub(super) fn from(output: &Tensor, gradient: &Tensor) -> Result<()> {
    // SAFETY: both outlive the call, which changes neither handle.
    check(unsafe { snapscope_backward_from(pointer(output), pointer(gradient)) })
}

/// Takes the gradient of a received tensor and resets it.
///
/// # Errors
///
/// Returns an error if an operation fails.
pub(super) fn take_gradient(received: &Tensor) -> Result<Tensor> {
    let gradient = received.f_grad()?;
    // SAFETY: the handle lives.
    unsafe { snapscope_reset_gradient(pointer(received)) };
    Ok(gradient)
}
