//! Side streams and pinned memory: bindings of `shim/data.cpp`.
#![allow(unsafe_code, reason = "every call into shim/data.cpp is here")]

use std::ffi::{c_int, c_void};
use std::ptr;

use tch::{Device, Tensor};

use crate::Result;
use crate::shim::{Message, Pointer, check, made, pointer};

unsafe extern "C" {
    fn snapscope_stream_new(device: c_int, out: *mut Pointer) -> Message;
    fn snapscope_stream_swap(stream: Pointer) -> Message;
    fn snapscope_stream_wait(stream: *const c_void) -> Message;
    fn snapscope_record_stream(tensor: Pointer) -> Message;
    fn snapscope_pin(tensor: *const c_void, out: *mut Pointer) -> Message;
}

/// A stream of the device beside the one that training runs on.
#[derive(Debug)]
pub(super) struct Stream(Pointer);

impl Stream {
    /// Creates a stream on a GPU: `torch.cuda.Stream()`.
    pub(super) fn new(device: Device) -> Result<Self> {
        let index = if let Device::Cuda(index) = device { index as c_int } else { 0 };
        let mut stream = ptr::null_mut();
        // SAFETY: without a message `stream` is a stream that is never destroyed.
        check(unsafe { snapscope_stream_new(index, &mut stream) })?;
        Ok(Self(stream))
    }

    /// Runs `work` with this stream as the current one.
    pub(super) fn run<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.swap()?;
        let result = work();
        self.swap()?;
        result
    }

    /// Makes the current stream wait for the work of this stream.
    pub(super) fn wait(&self) -> Result<()> {
        // SAFETY: the stream comes from `snapscope_stream_new`.
        check(unsafe { snapscope_stream_wait(self.0) })
    }

    fn swap(&self) -> Result<()> {
        // SAFETY: as above; the stream that was the current one is stored in its place until the next call.
        check(unsafe { snapscope_stream_swap(self.0) })
    }
}

/// Delays the reuse of a tensor's memory until the current stream is done with it.
///
/// `tensor.record_stream(torch.cuda.current_stream())`
pub(super) fn record(tensor: &Tensor) -> Result<()> {
    // SAFETY: the tensor outlives the call.
    check(unsafe { snapscope_record_stream(pointer(tensor)) })
}

/// Copies a tensor to pinned memory: `tensor.pin_memory()`.
pub(super) fn pin(tensor: &Tensor) -> Result<Tensor> {
    // SAFETY: the tensor outlives the call.
    made(|out| unsafe { snapscope_pin(pointer(tensor), out) })
}
