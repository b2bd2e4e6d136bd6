//! Launches kernels, and implements the functions with which compiled code registers and launches them.
//!
//! A program makes hundreds of thousands of launches. Each one updates a counter and thread-local state, and takes a
//! lock only if a stream is captured, events have a lag, or the kernel is not in the thread's cache of comparisons.

use std::ffi::{c_char, c_int, c_void};

use super::status;
use crate::error::Error;
use crate::ffi::{Handle, Out};
use crate::state::comparison::note_launch;
use crate::state::loading::note_load;
use crate::state::thread::{LaunchConfig, pop_launch, push_launch, set_last_kernel};
use crate::state::{kernel, launch};
use crate::stub::harmless;

// The code of kernels is not loaded, so there is nothing to prepare or release.
harmless! {
    __cudaRegisterFatBinaryEnd,
    __cudaUnregisterFatBinary,
    __cudaRegisterVar,
    __cudaRegisterManagedVar,
    __cudaRegisterTexture,
    __cudaRegisterSurface,
    __cudaRegisterHostVar,
}

/// `dim3`, which is passed by value.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Dim3([u32; 3]);

/// The first fields of `cudaLaunchConfig_t`; the others are not read.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct ExtendedConfig {
    grid: Dim3,
    block: Dim3,
    shared_bytes: usize,
    stream: Handle,
}

/// Registers a program's code; all programs share one handle, which is never dereferenced.
#[unsafe(no_mangle)]
pub(super) extern "C" fn __cudaRegisterFatBinary(_code: *const c_void) -> Handle {
    static BINARY: usize = 0;
    (&raw const BINARY).cast_mut().cast()
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn __cudaInitModule(_binary: Handle) -> c_char {
    1
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn __cudaRegisterFunction(_binary: Handle, host_function: *const c_void, name: *const c_char) {
    kernel::register(host_function, name);
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn __cudaGetKernel(kernel: Out<*const c_void>, host_function: *const c_void) -> c_int {
    kernel.put_if_wanted(host_function);
    0
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared_bytes: usize,
    stream: usize,
) -> c_int {
    push_launch(LaunchConfig { grid: grid.0, block: block.0, shared_bytes, stream });
    0
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn __cudaPopCallConfiguration(
    grid: Out<[u32; 3]>,
    block: Out<[u32; 3]>,
    shared_bytes: Out<usize>,
    stream: Out<usize>,
) -> c_int {
    status(|| {
        let config = pop_launch().ok_or(Error::MissingConfiguration)?;
        grid.put_if_wanted(config.grid);
        block.put_if_wanted(config.block);
        shared_bytes.put_if_wanted(config.shared_bytes);
        stream.put_if_wanted(config.stream);
        Ok(())
    })
}

/// Defines functions that launch a kernel and differ in nothing that is modeled.
macro_rules! kernels {
    { $($name:ident)* } => {$(
        #[unsafe(no_mangle)]
        pub(super) extern "C" fn $name(
            kernel: *const c_void,
            _grid: Dim3,
            _block: Dim3,
            arguments: *const *const c_void,
            _shared_bytes: usize,
            stream: Handle,
        ) -> c_int {
            set_last_kernel(kernel);
            note_load(kernel.addr());
            note_launch(kernel, arguments);
            status(|| launch(stream))
        }
    )*};
}

kernels! { cudaLaunchKernel __cudaLaunchKernel __cudaLaunchKernel_ptsz cudaLaunchCooperativeKernel }

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaLaunchKernelExC(
    config: Out<ExtendedConfig>,
    kernel: *const c_void,
    _arguments: *const *const c_void,
) -> c_int {
    set_last_kernel(kernel);
    note_load(kernel.addr());
    status(|| launch(config.get().ok_or(Error::InvalidValue)?.stream))
}
