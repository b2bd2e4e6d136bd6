//! Lists devices, selects the current one, and returns their properties, limits and peer access.

use std::ffi::{CString, c_char, c_int, c_uint};
use std::sync::atomic::Ordering;

use super::{give, pool, properties, status};
use crate::error::{Error, Result};
use crate::ffi::{Out, text};
use crate::state::{machine, now, thread};
use crate::stub::{functions, harmless};
use crate::versions::versions;

/// Highest stream priority; the lowest is 0.
pub(crate) const MOST_URGENT: c_int = -5;

harmless! {
    cudaDeviceSetCacheConfig,
    cudaDeviceSetLimit,
    cudaInitDevice,
    cudaSetDeviceFlags,
    cudaSetValidDevices,
    cudaProfilerStart,
    cudaProfilerStop,
    cudaCtxResetPersistingL2Cache,
    cudaDeviceFlushGPUDirectRDMAWrites,
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGetDeviceCount(count: Out<c_int>) -> c_int {
    status(|| {
        count.put_if_wanted(0);
        give(count, machine()?.count()?)
    })
}

functions! {
    cudaGetDevice(device: Out<c_int>) =>
        give(device, c_int::try_from(machine()?.device(thread::device())?.ordinal).unwrap_or(c_int::MAX));
    cudaChooseDevice(device: Out<c_int>) => give(device, 0);
    cudaGetDeviceFlags(flags: Out<c_uint>) => give(flags, 0);
    cudaDriverGetVersion(version: Out<c_int>) => give(version, versions().cuda_number());
    cudaRuntimeGetVersion(version: Out<c_int>) => give(version, versions().cuda_number());
    cudaGetDeviceProperties(properties: Out<[u8; 1008]>, device: c_int) =>
        give(properties, properties::OF_13.of(machine()?.device(device)?));
    cudaGetDeviceProperties_v2(properties: Out<[u8; 1032]>, device: c_int) =>
        give(properties, properties::OF_12.of(machine()?.device(device)?));
    cudaDeviceGetAttribute(value: Out<c_int>, attribute: c_int, device: c_int) =>
        give(value, machine()?.device(device)?.attribute(attribute).ok_or(Error::InvalidValue)?);
    cudaDeviceGetPCIBusId(bus_id: *mut c_char, length: c_int, device: c_int) =>
        copy_text(&machine()?.device(device)?.pci_bus_id(), bus_id, length);
    cudaDeviceGetCacheConfig(config: Out<c_int>) => give(config, 0);
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaSetDevice(device: c_int) -> c_int {
    status(|| {
        let device = machine()?.device(device)?;
        thread::set_device(device.ordinal);
        device.is_active.store(true, Ordering::Relaxed);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaDeviceReset() -> c_int {
    crate::log::line(format_args!("cudaDeviceReset keeps what is allocated: PyTorch never calls it"));
    0
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaDeviceGetByPCIBusId(device: Out<c_int>, bus_id: *const c_char) -> c_int {
    status(|| {
        let wanted = text(bus_id);
        let found = machine()?.devices.iter().position(|device| device.pci_bus_id().eq_ignore_ascii_case(wanted));
        give(device, found.and_then(|ordinal| c_int::try_from(ordinal).ok()).ok_or(Error::InvalidValue)?)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaDeviceGetStreamPriorityRange(least: Out<c_int>, greatest: Out<c_int>) -> c_int {
    least.put_if_wanted(0);
    greatest.put_if_wanted(MOST_URGENT);
    0
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaDeviceGetLimit(value: Out<usize>, limit: c_int) -> c_int {
    status(|| {
        // CUDA's defaults for a thread's stack, the buffer of `printf` and the heap of `malloc`.
        let size = [1 << 10, 1 << 20, 8 << 20].get(usize::try_from(limit).unwrap_or(usize::MAX));
        give(value, size.copied().unwrap_or(0))
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaDeviceSynchronize() -> c_int {
    status(|| {
        let machine = machine()?;
        let device = machine.current()?.ordinal;
        {
            let mut work = machine.work();
            work.check_unsafe()?;
            work.streams.finish_device(device, now());
        }
        pool::release_unused(machine, device)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaDeviceCanAccessPeer(can: Out<c_int>, device: c_int, peer: c_int) -> c_int {
    status(|| {
        let machine = machine()?;
        let are_two = machine.device(device)?.ordinal != machine.device(peer)?.ordinal;
        give(can, are_two.into())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaDeviceEnablePeerAccess(peer: c_int, _flags: c_uint) -> c_int {
    status(|| {
        let machine = machine()?;
        let (device, peer) = (machine.current()?, machine.device(peer)?.ordinal);
        if device.ordinal == peer {
            return Err(Error::InvalidDevice);
        }
        if device.lock().peers.insert(peer) { Ok(()) } else { Err(Error::PeerAccessAlreadyEnabled) }
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaDeviceDisablePeerAccess(peer: c_int) -> c_int {
    status(|| {
        let machine = machine()?;
        let peer = machine.device(peer)?.ordinal;
        if machine.current()?.lock().peers.remove(&peer) { Ok(()) } else { Err(Error::PeerAccessNotEnabled) }
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaDeviceGetP2PAttribute(
    value: Out<c_int>,
    attribute: c_int,
    from: c_int,
    to: c_int,
) -> c_int {
    /// Access and native atomics are supported; the performance rank, attribute 1, is 0, the best.
    const SUPPORTED: &[c_int] = &[2, 3];
    status(|| {
        let machine = machine()?;
        let are_two = machine.device(from)?.ordinal != machine.device(to)?.ordinal;
        give(value, (are_two && SUPPORTED.contains(&attribute)).into())
    })
}

/// Copies a text, with a terminating zero, into a caller's buffer of `length` bytes.
///
/// # Errors
/// Returns "invalid value" if the buffer is null or too short.
pub(crate) fn copy_text(text: &str, to: *mut c_char, length: impl TryInto<usize>) -> Result<()> {
    let text = CString::new(text).map_err(|_| Error::InvalidValue)?;
    let bytes = text.as_bytes_with_nul();
    if to.is_null() || length.try_into().unwrap_or(0) < bytes.len() {
        return Err(Error::InvalidValue);
    }
    // SAFETY: the C caller guarantees that `length` bytes can be written, which is enough.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr().cast(), to, bytes.len()) };
    Ok(())
}
