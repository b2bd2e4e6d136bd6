//! Exports NVSHMEM, memory that several GPUs share, which is not modelled.
//!
//! The library exists because PyTorch's libraries need it to load, and reports that it is not initialized.

use std::ffi::c_int;
use std::sync::atomic::AtomicI32;

use crate::ffi::{Handle, Out};
use crate::stub::unmodelled;
use crate::unsupported::Unsupported;

/// Returns version 1.3 of the interface, as the library does for which this one stands in.
#[unsafe(no_mangle)]
extern "C" fn nvshmem_info_get_version(major: Out<c_int>, minor: Out<c_int>) {
    major.put_if_wanted(1);
    minor.put_if_wanted(3);
}

/// Returns `NVSHMEM_STATUS_NOT_INITIALIZED`.
#[unsafe(no_mangle)]
extern "C" fn nvshmemid_init_status() -> c_int {
    0
}

// 3 is `NVSHMEMX_ERROR_NOT_SUPPORTED`.
unmodelled! { "nvshmem", 3 =>
    nvshmem_barrier_all, nvshmem_init, nvshmem_free, nvshmem_team_n_pes, nvshmem_team_split_strided, nvshmemid_hostlib_finalize,
    nvshmemid_hostlib_init_attr, nvshmemx_alltoallmem_on_stream, nvshmemx_broadcastmem_on_stream,
    nvshmemx_cumodule_init, nvshmemx_get_uniqueid, nvshmemx_getmem_on_stream, nvshmemx_putmem_on_stream,
    nvshmemx_putmem_signal_on_stream, nvshmemx_set_attr_uniqueid_args, nvshmemx_signal_wait_until_on_stream,
}

/// Number of the transport between devices; the library has not chosen one before it is initialized.
#[unsafe(no_mangle)]
static nvshmem_selected_device_transport: AtomicI32 = AtomicI32::new(0);

/// Defines functions that return null instead of an address.
macro_rules! no_memory {
    { $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> Handle {
                static FUNCTION: Unsupported = Unsupported::new(stringify!($name), "nvshmem", 3);
                FUNCTION.call();
                std::ptr::null_mut()
            }
        )*
    };
}

no_memory! { nvshmem_malloc, nvshmem_ptr, nvshmemx_mc_ptr }
