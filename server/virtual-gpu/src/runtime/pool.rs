//! Allocates memory in stream order: `cudaMallocAsync` and its pools.

use std::ffi::{c_int, c_void};

use super::{give, memory, status};
use crate::error::{Error, Result};
use crate::ffi::{Handle, Out};
use crate::state::device::Contents;
use crate::state::handle::Kind;
use crate::state::pool::Pool;
use crate::state::{Machine, machine};
use crate::stub::{functions, harmless, unmodelled};

// Every device can access every pool anyway.
harmless! { cudaMemPoolSetAccess }

unmodelled! {
    "cudart", 801 =>
    cudaMemPoolExportPointer,
    cudaMemPoolExportToShareableHandle,
    cudaMemPoolImportFromShareableHandle,
    cudaMemPoolImportPointer,
}

/// Number of pools per device for which handles have room.
const POOLS_OF_A_DEVICE: usize = 1 << 16;

/// Numbers of `cudaMemPoolAttr`.
mod attribute {
    use std::ffi::c_int;

    pub(super) const REUSE: std::ops::RangeInclusive<c_int> = 1..=3;
    pub(super) const RELEASE_THRESHOLD: c_int = 4;
    pub(super) const RESERVED: c_int = 5;
    pub(super) const RESERVED_HIGH: c_int = 6;
    pub(super) const USED: c_int = 7;
    pub(super) const USED_HIGH: c_int = 8;
}

/// The first fields of `cudaMemPoolProps`; the others are not read.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct PoolProperties {
    kind: c_int,
    handle_types: c_int,
    location_kind: c_int,
    location: c_int,
}

fn handle(device: usize, pool: usize) -> Handle {
    Kind::Pool.handle(device * POOLS_OF_A_DEVICE + pool)
}

/// Looks up a pool and calls `work` with it while its device is locked.
fn with_pool<T>(pool: Handle, work: impl FnOnce(&mut Pool) -> Result<T>) -> Result<T> {
    let number = Kind::Pool.number(pool).map_err(|_| Error::InvalidValue)?;
    let mut contents = machine()?.device(number / POOLS_OF_A_DEVICE)?.lock();
    let pool = contents.pools.get_mut(number % POOLS_OF_A_DEVICE).and_then(Option::as_mut);
    work(pool.ok_or(Error::InvalidValue)?)
}

functions! {
    cudaDeviceGetDefaultMemPool(pool: Out<Handle>, device: c_int) =>
        give(pool, handle(machine()?.device(device)?.ordinal, 0));
    cudaDeviceGetMemPool(pool: Out<Handle>, device: c_int) = cudaDeviceGetDefaultMemPool(pool, device);
    cudaFreeAsync(address: *mut c_void, _stream: Handle) => memory::free(machine()?, address as u64);
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaMemPoolCreate(pool: Out<Handle>, properties: Out<PoolProperties>) -> c_int {
    status(|| {
        let device = machine()?.device(properties.get().ok_or(Error::InvalidValue)?.location)?;
        let mut contents = device.lock();
        contents.pools.push(Some(Pool::new()));
        give(pool, handle(device.ordinal, contents.pools.len() - 1))
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaMemPoolDestroy(pool: Handle) -> c_int {
    status(|| {
        let number = Kind::Pool.number(pool).map_err(|_| Error::InvalidValue)?;
        let mut contents = machine()?.device(number / POOLS_OF_A_DEVICE)?.lock();
        // The default pool cannot be destroyed.
        let place = contents.pools.get_mut(number % POOLS_OF_A_DEVICE).filter(|_| number % POOLS_OF_A_DEVICE > 0);
        let mut pool = place.and_then(Option::take).ok_or(Error::InvalidValue)?;
        pool.trim(0, &mut contents.memory);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaMallocAsync(address: Out<*mut c_void>, size: usize, _stream: Handle) -> c_int {
    status(|| {
        let device = machine()?.current()?;
        give(address, allocate(&mut device.lock(), 0, size)?)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaMallocFromPoolAsync(
    address: Out<*mut c_void>,
    size: usize,
    pool: Handle,
    _stream: Handle,
) -> c_int {
    status(|| {
        let number = Kind::Pool.number(pool).map_err(|_| Error::InvalidValue)?;
        let device = machine()?.device(number / POOLS_OF_A_DEVICE)?;
        give(address, allocate(&mut device.lock(), number % POOLS_OF_A_DEVICE, size)?)
    })
}

fn allocate(contents: &mut Contents, pool: usize, size: usize) -> Result<*mut c_void> {
    let Contents { memory, pools, .. } = contents;
    let pool = pools.get_mut(pool).and_then(Option::as_mut).ok_or(Error::InvalidValue)?;
    pool.allocate(size as u64, memory).map(|address| address as *mut c_void)
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaMemPoolTrimTo(pool: Handle, keep_bytes: usize) -> c_int {
    status(|| {
        let number = Kind::Pool.number(pool).map_err(|_| Error::InvalidValue)?;
        let mut contents = machine()?.device(number / POOLS_OF_A_DEVICE)?.lock();
        let Contents { memory, pools, .. } = &mut *contents;
        let pool = pools.get_mut(number % POOLS_OF_A_DEVICE).and_then(Option::as_mut).ok_or(Error::InvalidValue)?;
        pool.trim(keep_bytes as u64, memory);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaMemPoolGetAttribute(pool: Handle, attribute: c_int, value: *mut c_void) -> c_int {
    status(|| {
        let read = with_pool(pool, |pool| {
            Ok(match attribute {
                attribute::RELEASE_THRESHOLD => pool.release_threshold_bytes,
                attribute::RESERVED => pool.reserved.current,
                attribute::RESERVED_HIGH => pool.reserved.high,
                attribute::USED => pool.used.current,
                attribute::USED_HIGH => pool.used.high,
                _ if attribute::REUSE.contains(&attribute) => 1,
                _ => return Err(Error::InvalidValue),
            })
        })?;
        if value.is_null() {
            return Err(Error::InvalidValue);
        }
        // SAFETY: the caller passes an `int` for the attributes of reuse, and a 64-bit number for the others.
        unsafe {
            if attribute::REUSE.contains(&attribute) {
                value.cast::<c_int>().write(1);
            } else {
                value.cast::<u64>().write(read);
            }
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaMemPoolSetAttribute(pool: Handle, attribute: c_int, value: *const c_void) -> c_int {
    status(|| {
        if attribute::REUSE.contains(&attribute) {
            return Ok(());
        }
        if value.is_null() {
            return Err(Error::InvalidValue);
        }
        // SAFETY: the attributes other than those of reuse have a 64-bit number.
        let value = unsafe { value.cast::<u64>().read() };
        with_pool(pool, |pool| match attribute {
            attribute::RELEASE_THRESHOLD => {
                pool.release_threshold_bytes = value;
                Ok(())
            }
            // Only 0 is allowed, which resets the high-water mark to the current value.
            attribute::RESERVED_HIGH if value == 0 => {
                pool.reserved.high = pool.reserved.current;
                Ok(())
            }
            attribute::USED_HIGH if value == 0 => {
                pool.used.high = pool.used.current;
                Ok(())
            }
            _ => Err(Error::InvalidValue),
        })
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaMemPoolGetAccess(flags: Out<c_int>, pool: Handle, _location: *const c_void) -> c_int {
    /// `cudaMemAccessFlagsProtReadWrite`.
    const READ_AND_WRITE: c_int = 3;
    status(|| {
        with_pool(pool, |_| Ok(()))?;
        give(flags, READ_AND_WRITE)
    })
}

/// Trims the pools of a device to their release thresholds, as synchronizing with a device or a stream does.
pub(super) fn release_unused(machine: &Machine, device: usize) -> Result<()> {
    let mut contents = machine.device(device)?.lock();
    let Contents { memory, pools, .. } = &mut *contents;
    for pool in pools.iter_mut().flatten() {
        pool.trim(pool.release_threshold_bytes, memory);
    }
    Ok(())
}
