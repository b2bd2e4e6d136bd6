//! Allocates memory for NCCL, and registers buffers with it.

use std::ffi::c_int;

use super::communicator::Communicator;
use crate::answers::new_handle;
use crate::ffi::{Handle, Out};
use crate::stub::harmless;

unsafe extern "C" {
    safe fn cudaMalloc(address: Out<Handle>, size: usize) -> c_int;
    safe fn cudaFree(address: Handle) -> c_int;
}

/// `ncclUnhandledCudaError`.
const CUDA_ERROR: c_int = 1;

/// Allocates device memory, as `cudaMalloc` does.
#[unsafe(no_mangle)]
extern "C" fn ncclMemAlloc(address: Out<Handle>, size: usize) -> c_int {
    if cudaMalloc(address, size) == 0 { 0 } else { CUDA_ERROR }
}

#[unsafe(no_mangle)]
extern "C" fn ncclMemFree(address: Handle) -> c_int {
    if cudaFree(address) == 0 { 0 } else { CUDA_ERROR }
}

/// Defines functions that register a buffer and return a handle for it.
macro_rules! registrations {
    { $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(
                _communicator: Option<&Communicator>,
                _buffer: Handle,
                _size: usize,
                registration: Out<Handle>,
            ) -> c_int {
                registration.put_if_wanted(new_handle());
                0
            }
        )*
    };
}

registrations! { ncclCommRegister, ncclCommWindowRegister }

harmless! { ncclCommDeregister, ncclCommWindowDeregister }
