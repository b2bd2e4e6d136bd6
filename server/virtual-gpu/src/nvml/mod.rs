//! Implements NVML, `libnvidia-ml`, as far as PyTorch calls it when memory runs out and monitors call it.

mod identity;

use std::ffi::{c_char, c_int, c_uint};
use std::sync::atomic::Ordering;

use crate::ffi::{Handle, Out, text};
use crate::state::device::Device;
use crate::state::handle::Kind;
use crate::state::{Machine, machine};
use crate::stub::{functions, harmless, unmodelled};

/// Numbers of `nvmlReturn_t`.
mod code {
    use std::ffi::c_int;

    pub(super) const SUCCESS: c_int = 0;
    pub(super) const INVALID_ARGUMENT: c_int = 2;
    pub(super) const NOT_FOUND: c_int = 6;
    pub(super) const INSUFFICIENT_SIZE: c_int = 7;
}

harmless! { nvmlInit, nvmlInit_v2, nvmlInitWithFlags, nvmlShutdown }

// 3 is `NVML_ERROR_NOT_SUPPORTED`: there is no fabric and no sensor.
unmodelled! {
    "nvml", 3 =>
    nvmlDeviceGetClockInfo,
    nvmlDeviceGetCpuAffinity,
    nvmlDeviceGetEncoderUtilization,
    nvmlDeviceGetEnforcedPowerLimit,
    nvmlDeviceGetFanSpeed,
    nvmlDeviceGetGpuFabricInfo,
    nvmlDeviceGetMaxClockInfo,
    nvmlDeviceGetMigMode,
    nvmlDeviceGetPerformanceState,
    nvmlDeviceGetPowerManagementLimit,
    nvmlDeviceGetPowerUsage,
    nvmlDeviceGetTemperature,
    nvmlDeviceGetTotalEnergyConsumption,
    nvmlDeviceGetUtilizationRates,
}

functions! {
    /// Returns `NVML_ERROR_NOT_SUPPORTED`, because there are no links between cards.
    ///
    /// It is not logged as unmodelled, because it is a normal result that programs query for each possible link.
    nvmlDeviceGetNvLinkRemoteDeviceType() = 3;
    /// Returns the same as [`nvmlDeviceGetNvLinkRemoteDeviceType`].
    nvmlDeviceGetNvLinkRemotePciInfo_v2() = 3;
    /// Returns the same as [`nvmlDeviceGetNvLinkRemoteDeviceType`].
    nvmlDeviceGetNvLinkState() = 3;
    /// Returns `NVML_ERROR_NOT_SUPPORTED`, because there is no fabric between cards.
    nvmlDeviceGetGpuFabricInfoV() = 3;
    nvmlDeviceGetCount_v2(count: Out<c_uint>) =>
        give(count, c_uint::try_from(devices()?.count()).unwrap_or(c_uint::MAX));
    nvmlDeviceGetCount(count: Out<c_uint>) = nvmlDeviceGetCount_v2(count);
    nvmlDeviceGetHandleByIndex_v2(index: c_uint, to: Out<Handle>) => find(to, |device| device.index == index as usize);
    nvmlDeviceGetHandleByIndex(index: c_uint, to: Out<Handle>) = nvmlDeviceGetHandleByIndex_v2(index, to);
    nvmlDeviceGetHandleByUUID(uuid: *const c_char, to: Out<Handle>) =>
        find(to, |device| device.uuid_text() == text(uuid));
}

/// `nvmlProcessInfo_v1_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Process {
    pid: c_uint,
    used_bytes: u64,
}

/// `nvmlProcessInfo_v2_t`, which version 3 of the function writes as well.
#[derive(Clone, Copy)]
#[repr(C)]
struct ProcessOfInstance {
    pid: c_uint,
    used_bytes: u64,
    instance: c_uint,
    compute_instance: c_uint,
}

/// `nvmlMemory_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Memory {
    total: u64,
    free: u64,
    used: u64,
}

/// `nvmlMemory_v2_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct MemoryV2 {
    version: c_uint,
    total: u64,
    reserved: u64,
    free: u64,
    used: u64,
}

/// Result of a function, with NVML's number as the error.
type Answer = Result<(), c_int>;

fn status(body: impl FnOnce() -> Answer) -> c_int {
    body().map_or_else(|code| code, |()| code::SUCCESS)
}

fn give<T>(out: Out<T>, value: T) -> Answer {
    if out.put(value) { Ok(()) } else { Err(code::INVALID_ARGUMENT) }
}

/// Returns all devices of the machine, also those that `CUDA_VISIBLE_DEVICES` hides.
fn devices() -> Result<impl Iterator<Item = &'static Device>, c_int> {
    machine().map(Machine::cards).map_err(|_| code::NOT_FOUND)
}

/// Returns the device of an NVML handle, which has the form of a context's.
fn device(handle: Handle) -> Result<&'static Device, c_int> {
    let number = Kind::Context.number(handle).map_err(|_| code::INVALID_ARGUMENT)?;
    devices()?.find(|device| device.index == number).ok_or(code::INVALID_ARGUMENT)
}

fn find(to: Out<Handle>, is_wanted: impl Fn(&Device) -> bool) -> Answer {
    let found = devices()?.find(|device| is_wanted(device)).ok_or(code::NOT_FOUND)?;
    give(to, Kind::Context.handle(found.index))
}

/// Returns the memory that this process uses on a device, in bytes, or `None` before the device has a context.
fn used_bytes(device: &Device) -> Option<u64> {
    let free = device.lock().memory.free_bytes();
    device.is_active.load(Ordering::Relaxed).then(|| device.card.memory_bytes - free)
}

/// Returns the used memory of a device, in bytes; only this process can use it.
fn taken_bytes(device: &Device) -> u64 {
    used_bytes(device).unwrap_or(0)
}

/// Writes the list of processes that use a device: this one, or none before the device has a context.
fn processes<T>(handle: Handle, count: Out<c_uint>, list: Out<T>, make: impl Fn(c_uint, u64) -> T) -> Answer {
    let used = used_bytes(device(handle)?);
    let room = count.get().ok_or(code::INVALID_ARGUMENT)?;
    give(count, used.is_some().into())?;
    match used {
        Some(_) if room == 0 => Err(code::INSUFFICIENT_SIZE),
        Some(used) => give(list, make(std::process::id(), used)),
        None => Ok(()),
    }
}

#[unsafe(no_mangle)]
extern "C" fn nvmlErrorString(error: c_int) -> *const c_char {
    match error {
        code::SUCCESS => c"The operation was successful",
        code::INVALID_ARGUMENT => c"Invalid Argument",
        3 => c"Not Supported",
        code::NOT_FOUND => c"Not Found",
        code::INSUFFICIENT_SIZE => c"Insufficient Size",
        _ => c"Unknown Error",
    }
    .as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetHandleByPciBusId_v2(bus_id: *const c_char, to: Out<Handle>) -> c_int {
    // Programs write the domain with four digits or with eight.
    let wanted = text(bus_id).to_uppercase();
    status(|| find(to, |device| wanted.ends_with(&device.pci_bus_id())))
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetMemoryInfo(handle: Handle, memory: Out<Memory>) -> c_int {
    status(|| {
        let device = device(handle)?;
        let (total, used) = (device.card.memory_bytes, taken_bytes(device));
        give(memory, Memory { total, free: total - used, used })
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetMemoryInfo_v2(handle: Handle, memory: Out<MemoryV2>) -> c_int {
    status(|| {
        let device = device(handle)?;
        let (total, used) = (device.card.memory_bytes, taken_bytes(device));
        let version = memory.get().ok_or(code::INVALID_ARGUMENT)?.version;
        give(memory, MemoryV2 { version, total, reserved: 0, free: total - used, used })
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetComputeRunningProcesses(handle: Handle, count: Out<c_uint>, list: Out<Process>) -> c_int {
    status(|| processes(handle, count, list, |pid, used_bytes| Process { pid, used_bytes }))
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetComputeRunningProcesses_v3(
    handle: Handle,
    count: Out<c_uint>,
    list: Out<ProcessOfInstance>,
) -> c_int {
    /// Instance number of a card that is not divided into instances.
    const NO_INSTANCE: c_uint = c_uint::MAX;
    let make =
        |pid, used_bytes| ProcessOfInstance { pid, used_bytes, instance: NO_INSTANCE, compute_instance: NO_INSTANCE };
    status(|| processes(handle, count, list, make))
}

/// Returns no process: nothing draws.
#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetGraphicsRunningProcesses_v3(handle: Handle, count: Out<c_uint>) -> c_int {
    status(|| {
        device(handle)?;
        give(count, 0)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetP2PStatus(from: Handle, to: Handle, _capability: c_int, state: Out<c_int>) -> c_int {
    /// `NVML_P2P_STATUS_OK`: the handles name the same card, or cards with peer access to each other.
    const OK: c_int = 0;
    status(|| {
        device(from)?;
        device(to)?;
        give(state, OK)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the handle of a card.
    pub(super) fn handle(index: c_uint) -> Handle {
        let mut handle = std::ptr::null_mut();
        assert_eq!(nvmlDeviceGetHandleByIndex_v2(index, Out::to(&mut handle)), 0);
        handle
    }

    #[test]
    fn cards_are_counted_and_found() {
        let mut count = 0;
        assert_eq!((nvmlDeviceGetCount_v2(Out::to(&mut count)), count), (0, 2));
        assert_ne!(handle(0), handle(1));
        assert_eq!(nvmlDeviceGetHandleByIndex_v2(2, Out::none()), code::NOT_FOUND);
    }
}
