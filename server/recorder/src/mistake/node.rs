//! A node of the autograd graph that a script keeps without the tensor that it produced.
#![allow(unsafe_code, reason = "the node is C++'s")]

use std::ffi::{c_char, c_void};

use tch::Tensor;

use crate::Result;
use crate::shim::check;

unsafe extern "C" {
    fn snapscope_grad_fn(tensor: *mut c_void, out: *mut *mut c_void) -> *mut c_char;
    fn snapscope_drop_grad_fn(node: *mut c_void);
}

/// `tensor.grad_fn` of Python, which keeps the graph behind it alive.
#[derive(Debug)]
pub(super) struct Node(*mut c_void);

impl Node {
    /// Returns the node that produced a tensor.
    ///
    /// # Errors
    ///
    /// Returns an error if the graph of the tensor cannot be read.
    pub(super) fn of(tensor: &Tensor) -> Result<Self> {
        let mut out = std::ptr::null_mut();
        // SAFETY: the tensor outlives the call, which does not change the handle, and `out` is written.
        check(unsafe { snapscope_grad_fn(tensor.as_ptr().cast_mut().cast(), &mut out) })?;
        Ok(Self(out))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // SAFETY: the pointer comes from `of`, and is freed once.
        unsafe { snapscope_drop_grad_fn(self.0) }
    }
}
