//! Implements the CUDA runtime, `libcudart`, as far as PyTorch and related Python packages call it.
//!
//! Each function translates its parameters, calls `state`, and stores an error for `cudaGetLastError`.

mod capture;
mod copy;
mod device;
mod event;
mod failure;
mod function;
mod graph;
mod ipc;
mod launch;
mod memory;
mod pool;
mod properties;
mod rest;
mod stream;

#[cfg(test)]
mod tests;

use std::ffi::c_int;

use crate::error::{Error, Result, code};
use crate::ffi::Out;
use crate::state::thread;

pub(crate) use copy::{copy, fill};
pub(crate) use device::{MOST_URGENT, copy_text};
pub(crate) use function::{attribute, occupancy, set_shared_bytes};
pub(crate) use memory::free;

/// Runs a function's body and stores an error for `cudaGetLastError`.
fn status(body: impl FnOnce() -> Result<()>) -> c_int {
    let result = body();
    if let Err(error) = result {
        thread::set_last_error(error);
    }
    code(result)
}

/// Writes a value through an out-parameter.
///
/// # Errors
/// Returns "invalid value" if the pointer is null.
fn give<T>(out: Out<T>, value: T) -> Result<()> {
    if out.put(value) { Ok(()) } else { Err(Error::InvalidValue) }
}
