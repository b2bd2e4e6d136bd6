//! Allocates and copies memory and synchronizes streams, for programs that call the driver besides the runtime.

use std::ffi::{c_int, c_uint, c_void};

use super::{give, status};
use crate::error::{Error, Result};
use crate::ffi::{Handle, Out};
use crate::runtime::{copy, fill, free};
use crate::state::handle::{Kind, stream_of};
use crate::state::memory::PAGE;
use crate::state::{Place, machine};
use crate::stub::{functions, harmless};

// Writing to and waiting on values in device memory has no effect, because nothing reads the values.
harmless! {
    cuStreamWriteValue32,
    cuStreamWriteValue32_v2,
    cuStreamWriteValue64,
    cuStreamWriteValue64_v2,
    cuStreamWaitValue32,
    cuStreamWaitValue32_v2,
}

/// Numbers of `CUpointer_attribute`.
mod attribute {
    use std::ffi::c_int;

    pub(super) const CONTEXT: c_int = 1;
    pub(super) const MEMORY_TYPE: c_int = 2;
    pub(super) const DEVICE_POINTER: c_int = 3;
    pub(super) const HOST_POINTER: c_int = 4;
    pub(super) const SYNC_MEMOPS: c_int = 6;
    pub(super) const BUFFER_ID: c_int = 7;
    pub(super) const IS_MANAGED: c_int = 8;
    pub(super) const ORDINAL: c_int = 9;
    pub(super) const IS_IPC_CAPABLE: c_int = 10;
    pub(super) const RANGE_START: c_int = 11;
    pub(super) const RANGE_SIZE: c_int = 12;
    pub(super) const MAPPED: c_int = 13;
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuMemAlloc_v2(address: Out<u64>, size: usize) -> c_int {
    status(|| {
        let machine = machine()?;
        machine.check_unsafe()?;
        if size == 0 {
            return Err(Error::InvalidValue);
        }
        give(address, machine.current()?.lock().memory.allocate(size as u64)?)
    })
}

functions! {
    cuMemFree_v2(address: u64) => free(machine()?, address);
    cuPointerGetAttribute(data: *mut c_void, attribute: c_int, address: u64) =>
        pointer_attribute(data, attribute, address);
    cuMemcpyHtoD_v2(to: *mut c_void, from: *const c_void, size: usize) => copy(to, from, size, std::ptr::null_mut());
    cuMemcpyDtoH_v2(to: *mut c_void, from: *const c_void, size: usize) => copy(to, from, size, std::ptr::null_mut());
    cuMemcpyHtoDAsync_v2(to: *mut c_void, from: *const c_void, size: usize, stream: Handle) =>
        copy(to, from, size, stream);
    cuMemcpyDtoHAsync_v2(to: *mut c_void, from: *const c_void, size: usize, stream: Handle) =>
        copy(to, from, size, stream);
    cuMemcpyDtoDAsync_v2(to: *mut c_void, from: *const c_void, size: usize, stream: Handle) =>
        copy(to, from, size, stream);
    cuMemsetD8Async(to: *mut c_void, value: u8, count: usize, stream: Handle) => fill(to, value.into(), count, stream);
    /// Fills memory with 32-bit words.
    ///
    /// Where values are kept, every byte becomes the word's lowest byte, which is exact only for four equal bytes.
    cuMemsetD32Async(to: *mut c_void, value: c_uint, count: usize, stream: Handle) =>
        fill(to, (value & 0xff) as c_int, count.saturating_mul(4), stream);
    cuStreamSynchronize(stream: Handle) => machine()?.finish_stream(stream_of(stream)?);
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) -> c_int {
    status(|| {
        let device = machine()?.current()?;
        give(free, device.lock().memory.free_bytes() as usize)?;
        give(total, device.card.memory_bytes as usize)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuMemGetAddressRange_v2(start: Out<u64>, size: Out<usize>, address: u64) -> c_int {
    status(|| {
        let (found, length) = machine()?.allocation(address).ok_or(Error::InvalidValue)?;
        start.put_if_wanted(found);
        size.put_if_wanted(length as usize);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuMemHostGetDevicePointer_v2(to: Out<u64>, address: *mut c_void, _flags: c_uint) -> c_int {
    status(|| match machine()?.place(address as usize) {
        Place::Pinned(_) => give(to, address as u64),
        _ => Err(Error::InvalidValue),
    })
}

/// Writes one attribute of an address to `data`.
///
/// # Errors
/// Returns "invalid value" for ordinary host memory, an attribute that the address does not have, or null `data`.
fn pointer_attribute(data: *mut c_void, attribute: c_int, address: u64) -> Result<()> {
    let machine = machine()?;
    let place = machine.place(address as usize);
    let (kind, device) = match place {
        Place::Device(device) => (2, device),
        Place::Pinned(device) => (1, device),
        Place::Host => return Err(Error::InvalidValue),
    };
    let range = || machine.allocation(address).unwrap_or((address & !(PAGE - 1), PAGE));
    let (value, size) = match attribute {
        attribute::CONTEXT => (Kind::Context.handle(device) as u64, 8),
        attribute::MEMORY_TYPE => (kind, 4),
        attribute::DEVICE_POINTER => (address, 8),
        attribute::HOST_POINTER if matches!(place, Place::Pinned(_)) => (address, 8),
        attribute::BUFFER_ID => (range().0 / PAGE, 8),
        attribute::SYNC_MEMOPS | attribute::IS_MANAGED | attribute::IS_IPC_CAPABLE => (0, 4),
        attribute::ORDINAL => (device as u64, 4),
        attribute::RANGE_START => (range().0, 8),
        attribute::RANGE_SIZE => (range().1, 8),
        attribute::MAPPED => (1, 4),
        _ => return Err(Error::InvalidValue),
    };
    if data.is_null() {
        return Err(Error::InvalidValue);
    }
    // SAFETY: the caller has room for the 4 or 8 bytes of the attribute; numbers are little-endian on x86-64.
    unsafe { std::ptr::copy_nonoverlapping(value.to_le_bytes().as_ptr(), data.cast(), size) };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuPointerGetAttributes(
    count: c_uint,
    attributes: *const c_int,
    data: *const *mut c_void,
    address: u64,
) -> c_int {
    status(|| {
        for index in 0..count as usize {
            // SAFETY: the caller passes `count` attributes and as many pointers.
            let (attribute, place) = unsafe { (*attributes.add(index), *data.add(index)) };
            // As in CUDA, nothing is written for an attribute that the address does not have.
            let _ = pointer_attribute(place, attribute, address);
        }
        Ok(())
    })
}
