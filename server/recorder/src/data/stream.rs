//! Side streams and pinned memory: bindings of `shim/data.cpp`.
#![allow(unsafe_code, reason = "every call into shim/data.cpp is here")]

use std::ffi::c_int;

use tch::{Device, Tensor};

use crate::Result;
use crate::shim::{Message, Pointer, created};

unsafe extern "C" {
    fn snapscope_stream_new(device: c_int, out: *mut Pointer) -> Message;
}

/// A stream of the device beside the one that training runs on.
#[derive(Debug)]
pub(super) struct Stream(Pointer);

impl Stream {
    /// Creates a stream on a GPU: `torch.cuda.Stream()`.
    pub(super) fn new(device: Device) -> Result<Self> {
        let index = if let Device::Cuda(index) = device { index as c_int } else { 0 };
        // SAFETY: without a message `out` is a stream that is never destroyed.
        created(|out| unsafe { snapscope_stream_new(index, out) }).map(Self)
    }

    /// Runs `work` with this stream as the current one.
    pub(super) fn run<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.swap()?;
        let result = work();
        self.swap()?;
        result
    }
}

argument! { &Stream as Pointer = |stream| stream.0; }

wrap! { impl Stream {
    /// Makes the current stream wait for the work of this stream.
    pub(super) fn wait(&self) = snapscope_stream_wait;
    /// Makes this stream the current one; the one that was is stored in its place until the next call.
    fn swap(&self) = snapscope_stream_swap;
} }

wrap! {
    /// Delays the reuse of a tensor's memory until the current stream is done with it.
    ///
    /// `tensor.record_stream(torch.cuda.current_stream())`
    pub(super) fn record(tensor: &Tensor) = snapscope_record_stream;
    /// Copies a tensor to pinned memory: `tensor.pin_memory()`.
    pub(super) fn pin(tensor: &Tensor) -> Tensor = snapscope_pin;
}
