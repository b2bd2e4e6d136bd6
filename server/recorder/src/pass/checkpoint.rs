//! Activation checkpointing: backward runs a Rust closure again to recompute what the first run did not keep.
//!
//! The second run ends early, by an error that is no failure; `shim/checkpoint.cpp` explains when.
#![allow(unsafe_code, reason = "the closure crosses to C++ and back, on another thread")]

use std::ffi::{c_char, c_int};
use std::ops::Deref;
use std::sync::Arc;

use shared::job::Keep;
use tch::{TchError, Tensor};

use crate::Result;
use crate::shim::{Message, Pointer, made, pointers};

/// A layer that a checkpointed closure can carry to the thread that runs it again.
#[derive(Debug)]
pub struct Shared<T>(Arc<T>);

// SAFETY: only one thread at a time reads a layer, because the program waits in `backward` while a thread of the engine
// runs a segment again. Tensors are reference-counted atomically, so that either thread may drop the last handle.
unsafe impl<T> Send for Shared<T> {}

impl<T> Shared<T> {
    pub fn new(layer: T) -> Self {
        Self(Arc::new(layer))
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

type Segment = Box<dyn FnMut(&[&Tensor]) -> Result<Tensor> + Send>;

/// Checkpointing options of a segment; the layout is that of the struct in `shim/checkpoint.cpp`.
#[repr(C)]
struct RawSaving {
    keep: c_int,
    saved: usize,
}

unsafe extern "C" {
    fn snapscope_checkpoint(
        run: extern "C" fn(Pointer, *const Pointer, usize, *mut *mut c_char) -> Pointer,
        drop: extern "C" fn(Pointer),
        data: Pointer,
        inputs: *const Pointer,
        count: usize,
        with: *const RawSaving,
        out: *mut Pointer,
    ) -> Message;
    fn strdup(text: *const c_char) -> *mut c_char;
}

/// Returns the number of the shim's `Keep`.
fn number(keep: Keep) -> c_int {
    match keep {
        Keep::Nothing => 0,
        Keep::Attention => 1,
        Keep::Matmul => 2,
    }
}

/// Runs a segment without keeping its activations, except for the results of `keep`; backward runs it a second time.
///
/// The first `saved` inputs are positional arguments in Python: they wait wherever activations wait, the others stay.
pub(super) fn checkpoint(
    inputs: &[&Tensor],
    keep: Keep,
    saved: usize,
    segment: impl FnMut(&[&Tensor]) -> Result<Tensor> + Send + 'static,
) -> Result<Tensor> {
    let segment: Box<Segment> = Box::new(Box::new(segment));
    let pointers = pointers(inputs.iter().copied());
    // SAFETY: the shim owns `data` and gives it back to `drop_segment` once; inputs are copied before it returns.
    made(|out| unsafe {
        snapscope_checkpoint(
            run_segment,
            drop_segment,
            Box::into_raw(segment).cast(),
            pointers.as_ptr(),
            pointers.len(),
            &RawSaving { keep: number(keep), saved },
            out,
        )
    })
}

/// Runs the closure on tensors that remain the caller's; returns a new tensor, or null with a message.
extern "C" fn run_segment(data: Pointer, inputs: *const Pointer, count: usize, message: *mut *mut c_char) -> Pointer {
    // SAFETY: `data` is the box of `checkpoint`; only one thread at a time runs it, because autograd runs a node once.
    let segment = unsafe { &mut *data.cast::<Segment>() };
    // SAFETY: the shim passes `count` pointers to live tensors; the clones belong to this function.
    let inputs: Result<Vec<Tensor>> = unsafe { std::slice::from_raw_parts(inputs, count) }
        .iter()
        .map(|&pointer| unsafe { Ok(Tensor::clone_from_ptr(pointer.cast())) })
        .collect();
    let output = inputs.and_then(|inputs| segment(&inputs.iter().collect::<Vec<_>>()));
    match output {
        Ok(mut tensor) => {
            let pointer = tensor.as_mut_ptr().cast();
            std::mem::forget(tensor);
            pointer
        }
        Err(error) => {
            // SAFETY: the shim frees the copy that `strdup` makes.
            unsafe { *message = duplicate(&error) };
            std::ptr::null_mut()
        }
    }
}

/// Copies a message into memory that C frees.
fn duplicate(error: &TchError) -> *mut c_char {
    let text = match error {
        TchError::Torch(text) => text.clone(),
        other => other.to_string(),
    };
    let text = std::ffi::CString::new(text.replace('\0', " ")).unwrap_or_default();
    // SAFETY: `text` ends with a zero byte.
    unsafe { strdup(text.as_ptr()) }
}

extern "C" fn drop_segment(data: Pointer) {
    // SAFETY: the shim calls this once, with the box of `checkpoint`.
    drop(unsafe { Box::from_raw(data.cast::<Segment>()) });
}
