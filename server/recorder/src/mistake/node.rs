//! A node of autograd's graph that a script keeps without the tensor that came of it.
#![allow(unsafe_code, reason = "the node is C++'s")]

use std::ffi::{c_char, c_void};

use tch::Tensor;

use crate::Result;
use crate::shim::check;

unsafe extern "C" {
    fn snapscope_grad_fn(tensor: *mut c_void, out: *mut *mut c_void) -> *mut c_char;
    fn snapscope_drop_grad_fn(node: *mut c_void);
}

/// What `tensor.grad_fn` is in Python; it keeps the graph behind it.
#[derive(Debug)]
pub(super) struct Node(*mut c_void);

impl Node {
    /// The node that a tensor came of.
    ///
    /// # Errors
    ///
    /// The tensor has no graph that could be read.
    pub(super) fn of(tensor: &Tensor) -> Result<Self> {
        let mut out = std::ptr::null_mut();
        // SAFETY: the tensor outlives the call, which does not change the handle, and `out` is written.
        check(unsafe { snapscope_grad_fn(tensor.as_ptr().cast_mut().cast(), &mut out) })?;
        Ok(Self(out))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // SAFETY: the pointer is that of `of`, and is given back once.
        unsafe { snapscope_drop_grad_fn(self.0) }
    }
}
