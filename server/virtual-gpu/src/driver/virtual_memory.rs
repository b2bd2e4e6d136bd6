//! Implements virtual memory management, which PyTorch's expandable segments use.

use std::ffi::{c_int, c_ulonglong, c_void};

use super::{give, status};
use crate::config::Values;
use crate::error::{Error, Result};
use crate::ffi::Out;
use crate::state::memory::PAGE;
use crate::state::virtual_memory::Returned;
use crate::state::{backing, machine};
use crate::stub::functions;

/// `CU_MEM_LOCATION_TYPE_DEVICE`.
const LOCATION_DEVICE: c_int = 1;

/// `CU_MEM_ALLOCATION_TYPE_PINNED`: memory that stays in its place.
const TYPE_PINNED: c_int = 1;

/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`.
const HANDLE_FILE: c_int = 1;

/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
const READ_AND_WRITE: c_ulonglong = 3;

/// `CUmemAllocationProp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Properties {
    pub(super) kind: c_int,
    pub(super) handle_types: c_int,
    pub(super) location_kind: c_int,
    pub(super) location: c_int,
    pub(super) metadata: usize,
    pub(super) flags: [u8; 8],
}

impl Properties {
    /// Returns the properties of one device's memory that is not shared with other processes.
    pub(super) const fn of_device(location: c_int) -> Self {
        Self {
            kind: TYPE_PINNED,
            handle_types: 0,
            location_kind: LOCATION_DEVICE,
            location,
            metadata: 0,
            flags: [0; 8],
        }
    }
}

/// `CUmemLocation`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Location {
    kind: c_int,
    id: c_int,
}

functions! {
    cuMemGetAllocationGranularity(size: Out<usize>, _: *const Properties, _option: c_int) => give(size, PAGE as usize);
    cuMemAddressReserve(address: Out<u64>, size: usize, _alignment: usize, _wanted: u64, _flags: c_ulonglong) =>
        give(address, machine()?.virtual_memory().reserve(size as u64)?);
    cuMemAddressFree(address: u64, size: usize) => machine()?.virtual_memory().unreserve(address, size as u64);
    cuMemRetainAllocationHandle(handle: Out<u64>, address: u64) =>
        give(handle, machine()?.virtual_memory().retain(address)?);
    /// Fails, because other processes could not open the handle.
    cuMemExportToShareableHandle(_to: *mut c_void, _handle: u64, _kind: c_int, _flags: c_ulonglong) =
        Error::NotPermitted.code();
}

/// Creates memory, which counts as used from now on.
///
/// The properties may announce a file descriptor for other processes, as PyTorch's always do; exporting it is refused
/// later. A handle for other machines is not permitted, as on cards without a fabric.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cuMemCreate(
    handle: Out<u64>,
    size: usize,
    properties: Out<Properties>,
    _flags: c_ulonglong,
) -> c_int {
    status(|| {
        let properties = properties.get().ok_or(Error::InvalidValue)?;
        if properties.handle_types & !HANDLE_FILE != 0 {
            return Err(Error::NotPermitted);
        }
        if properties.location_kind != LOCATION_DEVICE || size == 0 || !(size as u64).is_multiple_of(PAGE) {
            return Err(Error::InvalidValue);
        }
        let machine = machine()?;
        let device = machine.device(properties.location)?;
        device.lock().memory.charge(size as u64)?;
        give(handle, machine.virtual_memory().create(device.ordinal, size as u64))
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuMemRelease(handle: u64) -> c_int {
    status(|| {
        let machine = machine()?;
        let returned = machine.virtual_memory().release(handle)?;
        machine.refund(returned);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuMemGetAllocationPropertiesFromHandle(properties: Out<Properties>, handle: u64) -> c_int {
    status(|| {
        let (device, _) = machine()?.virtual_memory().properties(handle)?;
        give(properties, Properties::of_device(c_int::try_from(device).unwrap_or(c_int::MAX)))
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuMemMap(address: u64, size: usize, offset: usize, handle: u64, _flags: c_ulonglong) -> c_int {
    status(|| {
        // CUDA requires an offset of 0 as well.
        if offset != 0 {
            return Err(Error::InvalidValue);
        }
        machine()?.virtual_memory().map(address, size as u64, handle)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuMemUnmap(address: u64, size: usize) -> c_int {
    status(|| {
        let machine = machine()?;
        let returned: Vec<Returned> = machine.virtual_memory().unmap(address, size as u64)?;
        if machine.values == Values::Shadow {
            backing::forget(address, size as u64);
        }
        machine.refund(returned);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuMemSetAccess(address: u64, _size: usize, accesses: *const c_void, count: usize) -> c_int {
    status(|| {
        check_mapped(address)?;
        if accesses.is_null() || count == 0 { Err(Error::InvalidValue) } else { Ok(()) }
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuMemGetAccess(flags: Out<c_ulonglong>, location: Out<Location>, address: u64) -> c_int {
    status(|| {
        check_mapped(address)?;
        let location = location.get().ok_or(Error::InvalidValue)?;
        if location.kind == LOCATION_DEVICE {
            machine()?.device(location.id)?;
        }
        give(flags, READ_AND_WRITE)
    })
}

/// Fails, because handles of other processes cannot be opened.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cuMemImportFromShareableHandle(handle: Out<u64>, _from: *mut c_void, _kind: c_int) -> c_int {
    handle.put_if_wanted(0);
    Error::NotPermitted.code()
}

fn check_mapped(address: u64) -> Result<()> {
    machine()?.virtual_memory().find(address).map(|_| ()).ok_or(Error::InvalidValue)
}
