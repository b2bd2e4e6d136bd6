//! Loads libraries of kernels through the runtime, as PyTorch does from 2.12 on.
//!
//! As in a module, every name is found in a library, and the code is not read.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::module::{cuFuncSetAttribute, cuLibraryGetKernel, cuLibraryLoadData, cuModuleGetGlobal_v2};
use crate::ffi::{Handle, Out};
use crate::stub::{functions, harmless, unmodelled};

harmless! { cudaLibraryUnload }

// The number and the names of a library's kernels are in its code; unified functions and managed memory do not exist.
unmodelled! {
    "cudart", 801 =>
    cudaLibraryEnumerateKernels,
    cudaLibraryGetKernelCount,
    cudaLibraryGetManaged,
    cudaLibraryGetUnifiedFunction,
}

functions! {
    cudaLibraryLoadData(library: Out<Handle>, code: *const c_void) = cuLibraryLoadData(library, code);
    cudaLibraryLoadFromFile(library: Out<Handle>, _path: *const c_char) = cuLibraryLoadData(library, std::ptr::null());
    cudaLibraryGetKernel(to: Out<*const c_void>, library: Handle, name: *const c_char) =
        cuLibraryGetKernel(to, library, name);
    cudaLibraryGetGlobal(to: Out<u64>, bytes: Out<usize>, library: Handle, name: *const c_char) =
        cuModuleGetGlobal_v2(to, bytes, library, name);
    cudaKernelSetAttributeForDevice(kernel: *const c_void, attribute: c_int, value: c_int, _device: c_int) =
        cuFuncSetAttribute(kernel, attribute, value);
}

/// Writes 0: graphs take no memory of their own.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaDeviceGetGraphMemAttribute(_device: c_int, _attribute: c_uint, value: Out<u64>) -> c_int {
    value.put_if_wanted(0);
    0
}

// What can be set are counters, which stay 0.
harmless! { cudaDeviceSetGraphMemAttribute }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_a_library_are_found_by_name() {
        let (mut library, mut one, mut other) = (std::ptr::null_mut(), std::ptr::null(), std::ptr::null());
        assert_eq!(cudaLibraryLoadData(Out::to(&mut library), std::ptr::null()), 0);
        assert_eq!(cudaLibraryGetKernel(Out::to(&mut one), library, c"gemm".as_ptr()), 0);
        assert_eq!(cudaLibraryGetKernel(Out::to(&mut other), library, c"gemm".as_ptr()), 0);
        assert!(!one.is_null() && one == other);
        assert_eq!(cudaLibraryUnload(), 0);
    }

    #[test]
    fn graphs_take_no_memory() {
        let mut bytes = 7;
        assert_eq!((cudaDeviceGetGraphMemAttribute(0, 0, Out::to(&mut bytes)), bytes), (0, 0));
    }
}
