//! Shares memory and events with other processes.
//!
//! Each process has a virtual GPU of its own: what another process shares gets addresses here, and its memory counts where
//! it was allocated. Nothing that a process writes there reaches the other one, and its events are done.

use std::ffi::{c_int, c_uint, c_void};

use super::event::{DISABLE_TIMING, cudaEventCreateWithFlags};
use super::{give, status};
use crate::error::Error;
use crate::ffi::{Handle, Out};
use crate::state::machine;
use crate::stub::functions;

/// `cudaIpcMemHandle_t` and `cudaIpcEventHandle_t`, whose content is the library's own.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Shared {
    process: u64,
    start: u64,
    size_bytes: u64,
    rest: [u64; 5],
}

impl Shared {
    pub(super) fn new(start: u64, size_bytes: u64) -> Self {
        Self { process: std::process::id().into(), start, size_bytes, rest: [0; 5] }
    }
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaIpcGetMemHandle(shared: Out<Shared>, address: *mut c_void) -> c_int {
    status(|| {
        let (start, size_bytes) = machine()?.allocation(address as u64).ok_or(Error::InvalidValue)?;
        give(shared, Shared::new(start, size_bytes))
    })
}

functions! {
    cudaIpcOpenMemHandle(address: Out<*mut c_void>, shared: Shared, _flags: c_uint) =>
        give(address, machine()?.current()?.lock().memory.open(shared.size_bytes)? as *mut c_void);
    cudaIpcCloseMemHandle(address: *mut c_void) => machine()?.current()?.lock().memory.close(address as u64);
    cudaIpcGetEventHandle(shared: Out<Shared>, event: Handle) => give(shared, Shared::new(event as u64, 0));
    cudaIpcOpenEventHandle(event: Out<Handle>, _shared: Shared) = cudaEventCreateWithFlags(event, DISABLE_TIMING);
}
