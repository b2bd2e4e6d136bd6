//! Allocates device memory and pinned memory, and returns the attributes of addresses.

use std::ffi::{c_int, c_uint, c_void};

use super::{give, status};
use crate::config::Values;
use crate::error::{Error, Result};
use crate::ffi::Out;
use crate::state::{Machine, Place, backing, machine};
use crate::stub::{functions, harmless, unmodelled};

// Managed memory stays on the host.
harmless! {
    cudaMemAdvise,
    cudaMemPrefetchAsync,
}

unmodelled! {
    "cudart", 801 =>
    cudaMemRangeGetAttribute,
    cudaMemRangeGetAttributes,
}

/// `cudaPointerAttributes`.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct PointerAttributes {
    /// `cudaMemoryType`: 0 for unregistered host memory, 1 for pinned memory, 2 for device memory, 3 for
    /// managed memory.
    pub(super) kind: c_int,
    pub(super) device: c_int,
    device_pointer: usize,
    host_pointer: usize,
    reserved: [isize; 8],
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaMalloc(address: Out<*mut c_void>, size: usize) -> c_int {
    status(|| {
        let machine = machine()?;
        machine.check_unsafe()?;
        let device = machine.current()?;
        if size == 0 {
            return give(address, std::ptr::null_mut());
        }
        give(address, device.lock().memory.allocate(size as u64)? as *mut c_void)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaMallocPitch(
    address: Out<*mut c_void>,
    pitch: Out<usize>,
    width: usize,
    height: usize,
) -> c_int {
    let row = width.next_multiple_of(512);
    pitch.put_if_wanted(row);
    cudaMalloc(address, row.saturating_mul(height))
}

functions! {
    cudaFree(address: *mut c_void) => free(machine()?, address as u64);
    cudaMallocHost(address: Out<*mut c_void>, size: usize) = cudaHostAlloc(address, size, 0);
    cudaFreeHost(address: *mut c_void) => machine()?.pinned().free(address as usize);
    cudaHostUnregister(address: *mut c_void) => machine()?.pinned().unregister(address as usize);
}

/// Frees device memory from `cudaMalloc`, `cuMemAlloc` or a memory pool.
pub(crate) fn free(machine: &Machine, address: u64) -> Result<()> {
    machine.current()?;
    if address == 0 {
        return Ok(());
    }
    let Place::Device(ordinal) = machine.place(address as usize) else {
        return machine.pinned().free_managed(address as usize);
    };
    let mut contents = machine.device(ordinal)?.lock();
    let freed_by_pool = contents.pools.iter_mut().flatten().find_map(|pool| pool.free(address));
    if freed_by_pool.is_none() {
        let size = contents.memory.free(address)?;
        if machine.values == Values::Shadow {
            backing::forget(address, size);
        }
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaMemGetInfo(free: Out<usize>, total: Out<usize>) -> c_int {
    status(|| {
        let device = machine()?.current()?;
        give(free, device.lock().memory.free_bytes() as usize)?;
        give(total, device.card.memory_bytes as usize)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaHostAlloc(address: Out<*mut c_void>, size: usize, _flags: c_uint) -> c_int {
    status(|| {
        let machine = machine()?;
        machine.check_unsafe()?;
        let device = machine.current()?.ordinal;
        give(address, machine.pinned().allocate(size, device)? as *mut c_void)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaMallocManaged(address: Out<*mut c_void>, size: usize, _flags: c_uint) -> c_int {
    status(|| {
        let machine = machine()?;
        machine.check_unsafe()?;
        let device = machine.current()?.ordinal;
        give(address, machine.pinned().allocate_managed(size, device)? as *mut c_void)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaHostRegister(address: *mut c_void, size: usize, _flags: c_uint) -> c_int {
    status(|| {
        let machine = machine()?;
        let device = machine.current()?.ordinal;
        machine.pinned().register(address as usize, size, device)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaHostGetDevicePointer(to: Out<*mut c_void>, address: *mut c_void, _flags: c_uint) -> c_int {
    status(|| match machine()?.place(address as usize) {
        Place::Pinned(_) => give(to, address),
        _ => Err(Error::InvalidValue),
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaHostGetFlags(flags: Out<c_uint>, address: *mut c_void) -> c_int {
    status(|| match machine()?.place(address as usize) {
        Place::Pinned(_) => give(flags, 0),
        _ => Err(Error::InvalidValue),
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaPointerGetAttributes(attributes: Out<PointerAttributes>, address: *const c_void) -> c_int {
    /// `cudaInvalidDeviceId`, the device of memory that CUDA does not know.
    const NO_DEVICE: c_int = -2;
    let ordinal = |device| c_int::try_from(device).unwrap_or(c_int::MAX);
    let address = address as usize;
    status(|| {
        let (kind, device, device_pointer, host_pointer) = match machine()?.place(address) {
            Place::Device(device) => (2, ordinal(device), address, 0),
            Place::Pinned(device) if machine()?.pinned().is_managed(address) => (3, ordinal(device), address, address),
            Place::Pinned(device) => (1, ordinal(device), address, address),
            Place::Host => (0, NO_DEVICE, 0, address),
        };
        give(attributes, PointerAttributes { kind, device, device_pointer, host_pointer, reserved: [0; 8] })
    })
}
