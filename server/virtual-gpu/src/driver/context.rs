//! Lists devices and manages contexts; each device has one context, its primary one.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::atomic::Ordering;

use super::{give, status};
use crate::answers::new_handle;
use crate::error::{Error, Result};
use crate::ffi::{Handle, Out};
use crate::runtime::{MOST_URGENT, copy_text};
use crate::state::handle::{Kind, stream_of};
use crate::state::{machine, now, thread};
use crate::stub::{functions, harmless};
use crate::versions::versions;

harmless! {
    cuCtxDestroy,
    cuCtxDestroy_v2,
    cuCtxSetLimit,
    cuCtxSetCacheConfig,
    cuDevicePrimaryCtxRelease,
    cuDevicePrimaryCtxRelease_v2,
    cuDevicePrimaryCtxSetFlags,
    cuDevicePrimaryCtxSetFlags_v2,
    cuLogsUnregisterCallback,
    cuProfilerStart,
    cuProfilerStop,
}

/// Returns the ordinal of a context's device.
fn device_of(context: Handle) -> Result<usize> {
    Kind::Context.number(context).map_err(|_| Error::InvalidContext)
}

functions! {
    cuInit(_flags: c_uint) => machine()?.count().map(|_| ());
    cuDriverGetVersion(version: Out<c_int>) => give(version, versions().cuda_number());
    cuDeviceGetCount(count: Out<c_int>) => give(count, machine()?.count()?);
    cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int) =>
        copy_text(&machine()?.device(device)?.card.product, name, length);
    cuDeviceGetUuid(uuid: Out<[u8; 16]>, device: c_int) => give(uuid, machine()?.device(device)?.uuid());
    cuDeviceGetUuid_v2(uuid: Out<[u8; 16]>, device: c_int) = cuDeviceGetUuid(uuid, device);
    cuDeviceTotalMem_v2(bytes: Out<usize>, device: c_int) =>
        give(bytes, machine()?.device(device)?.card.memory_bytes as usize);
    cuDeviceGetAttribute(value: Out<c_int>, attribute: c_int, device: c_int) =>
        give(value, machine()?.device(device)?.attribute(attribute).ok_or(Error::InvalidValue)?);
    cuDeviceGetPCIBusId(bus_id: *mut c_char, length: c_int, device: c_int) =>
        copy_text(&machine()?.device(device)?.pci_bus_id(), bus_id, length);
    cuCtxCreate_v2(context: Out<Handle>, _flags: c_uint, device: c_int) = cuDevicePrimaryCtxRetain(context, device);
    cuCtxPushCurrent_v2(context: Handle) = cuCtxSetCurrent(context);
    cuCtxGetDevice(device: Out<c_int>) =>
        give(device, c_int::try_from(machine()?.current()?.ordinal).unwrap_or(c_int::MAX));
    cuCtxGetApiVersion(_context: Handle, version: Out<c_uint>) =>
        give(version, versions().cuda_number().unsigned_abs());
    cuCtxGetLimit(value: Out<usize>, _limit: c_int) => give(value, 0);
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuDeviceGet(device: Out<c_int>, ordinal: c_int) -> c_int {
    status(|| {
        machine()?.device(ordinal)?;
        give(device, ordinal)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuDeviceCanAccessPeer(can: Out<c_int>, device: c_int, peer: c_int) -> c_int {
    status(|| {
        let machine = machine()?;
        give(can, (machine.device(device)?.ordinal != machine.device(peer)?.ordinal).into())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuDevicePrimaryCtxGetState(device: c_int, flags: Out<c_uint>, active: Out<c_int>) -> c_int {
    status(|| {
        let device = machine()?.device(device)?;
        flags.put_if_wanted(0);
        give(active, device.is_active.load(Ordering::Relaxed).into())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuDevicePrimaryCtxRetain(context: Out<Handle>, device: c_int) -> c_int {
    status(|| {
        let device = machine()?.device(device)?;
        device.is_active.store(true, Ordering::Relaxed);
        give(context, Kind::Context.handle(device.ordinal))
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuCtxGetCurrent(context: Out<Handle>) -> c_int {
    status(|| {
        let device = machine()?.device(thread::device())?;
        let is_active = device.is_active.load(Ordering::Relaxed);
        give(context, if is_active { Kind::Context.handle(device.ordinal) } else { std::ptr::null_mut() })
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuCtxSetCurrent(context: Handle) -> c_int {
    status(|| {
        if !context.is_null() {
            thread::set_device(machine()?.device(device_of(context)?)?.ordinal);
        }
        Ok(())
    })
}

/// Returns the current context, which stays current, because there is one context per device and no stack of them.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cuCtxPopCurrent_v2(context: Out<Handle>) -> c_int {
    if context.is_null() { 0 } else { cuCtxGetCurrent(context) }
}

/// Returns the context of a stream's device.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cuStreamGetCtx(stream: Handle, context: Out<Handle>) -> c_int {
    status(|| {
        let device = machine()?.work().streams.get(stream_of(stream)?)?.device;
        give(context, Kind::Context.handle(device))
    })
}

/// Registers a function that would receive the driver's log, of which there is none.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cuLogsRegisterCallback(_function: Handle, _data: Handle, callback: Out<Handle>) -> c_int {
    callback.put_if_wanted(new_handle());
    0
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuCtxGetStreamPriorityRange(least: Out<c_int>, greatest: Out<c_int>) -> c_int {
    least.put_if_wanted(0);
    greatest.put_if_wanted(MOST_URGENT);
    0
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuCtxSynchronize() -> c_int {
    status(|| {
        let machine = machine()?;
        let device = machine.current()?.ordinal;
        let mut work = machine.work();
        work.check_unsafe()?;
        work.streams.finish_device(device, now());
        Ok(())
    })
}
