//! Implements the CUDA driver, `libcuda`, as far as PyTorch, Triton and other compilers call it.

mod context;
mod entry;
mod library;
mod memory;
mod module;
mod shared;
mod virtual_memory;

#[cfg(test)]
mod tests;

use std::ffi::{c_char, c_int};

use crate::error::{Error, Result, code, driver_name, text};
use crate::ffi::Out;
use crate::stub::unmodelled;

unmodelled! {
    "cuda", 801 =>
    cuCtxFromGreenCtx,
    cuDevResourceGenerateDesc,
    cuDevSmResourceSplitByCount,
    cuDeviceGetDevResource,
    cuGraphKernelNodeGetParams,
    cuGreenCtxCreate,
    cuGreenCtxDestroy,
    cuGreenCtxStreamCreate,
    cuIpcGetMemHandle,
    cuIpcOpenMemHandle,
    cuMulticastAddDevice,
    cuMulticastBindMem,
    cuMulticastCreate,
    cuMulticastGetGranularity,
    cuMulticastUnbind,
}

/// Runs a function's body and returns its error code.
fn status(body: impl FnOnce() -> Result<()>) -> c_int {
    code(body())
}

/// Writes a value through an out-parameter.
///
/// # Errors
/// Returns "invalid value" if the pointer is null.
fn give<T>(out: Out<T>, value: T) -> Result<()> {
    if out.put(value) { Ok(()) } else { Err(Error::InvalidValue) }
}

#[unsafe(no_mangle)]
extern "C" fn cuGetErrorName(error: c_int, name: Out<*const c_char>) -> c_int {
    status(|| {
        let found = driver_name(error);
        name.put_if_wanted(found.map_or(std::ptr::null(), |name| name.as_ptr()));
        found.map(|_| ()).ok_or(Error::InvalidValue)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuGetErrorString(error: c_int, string: Out<*const c_char>) -> c_int {
    status(|| {
        let found = text(error);
        string.put_if_wanted(found.map_or(std::ptr::null(), |text| text.as_ptr()));
        found.map(|_| ()).ok_or(Error::InvalidValue)
    })
}
