//! Returns what identifies the driver and the cards.

use std::ffi::{c_char, c_int, c_uint};

use super::{code, device, give, status};
use crate::ffi::{Handle, Out};
use crate::runtime::copy_text;
use crate::stub::functions;
use crate::versions::versions;

/// First driver that has a version of CUDA, from CUDA's release notes.
const DRIVERS: &[([u32; 2], &str)] = &[
    ([12, 4], "550.54.14"),
    ([12, 5], "555.42.02"),
    ([12, 6], "560.28.03"),
    ([12, 8], "570.26"),
    ([12, 9], "575.51.03"),
    ([13, 0], "580.65.06"),
    ([13, 1], "590.44.01"),
];

/// Returns the driver of a version of CUDA; that of the nearest older one if its own is not in the table.
fn driver(cuda: [u32; 2]) -> &'static str {
    let older = DRIVERS.iter().rev().find(|(version, _)| *version <= cuda);
    older.unwrap_or(&DRIVERS[0]).1
}

/// `nvmlPciInfo_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct PciInfo {
    legacy_id: [u8; 16],
    domain: c_uint,
    bus: c_uint,
    device: c_uint,
    device_id: c_uint,
    subsystem_id: c_uint,
    id: [u8; 32],
}

/// Puts a text into a field, which ends in zeros.
fn field<const SIZE: usize>(text: &str) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    bytes.iter_mut().zip(text.bytes().take(SIZE - 1)).for_each(|(place, byte)| *place = byte);
    bytes
}

functions! {
    nvmlSystemGetCudaDriverVersion(version: Out<c_int>) => give(version, versions().cuda_number());
    nvmlSystemGetCudaDriverVersion_v2(version: Out<c_int>) = nvmlSystemGetCudaDriverVersion(version);
    nvmlSystemGetDriverVersion(version: *mut c_char, length: c_uint) =>
        copy_text(driver(versions().cuda), version, length).map_err(|_| code::INSUFFICIENT_SIZE);
    nvmlDeviceGetIndex(handle: Handle, index: Out<c_uint>) =>
        give(index, c_uint::try_from(device(handle)?.index).unwrap_or(c_uint::MAX));
    nvmlDeviceGetMinorNumber(handle: Handle, number: Out<c_uint>) = nvmlDeviceGetIndex(handle, number);
    nvmlDeviceGetUUID(handle: Handle, uuid: *mut c_char, length: c_uint) =>
        copy_text(&device(handle)?.uuid_text(), uuid, length).map_err(|_| code::INSUFFICIENT_SIZE);
    nvmlDeviceGetName(handle: Handle, name: *mut c_char, length: c_uint) =>
        copy_text(&device(handle)?.card.product, name, length).map_err(|_| code::INSUFFICIENT_SIZE);
    nvmlDeviceGetPciInfo_v2(handle: Handle, info: Out<PciInfo>) = nvmlDeviceGetPciInfo_v3(handle, info);
}

/// Returns the version of NVML: that of CUDA's major version, and the driver's.
#[unsafe(no_mangle)]
extern "C" fn nvmlSystemGetNVMLVersion(version: *mut c_char, length: c_uint) -> c_int {
    let cuda = versions().cuda;
    let text = format!("{}.{}", cuda[0], driver(cuda));
    status(|| copy_text(&text, version, length).map_err(|_| code::INSUFFICIENT_SIZE))
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetPciInfo_v3(handle: Handle, info: Out<PciInfo>) -> c_int {
    status(|| {
        let device = device(handle)?;
        let id = device.pci_bus_id();
        give(
            info,
            PciInfo {
                legacy_id: field(&id),
                domain: 0,
                bus: c_uint::try_from(device.pci_bus()).unwrap_or(0),
                device: 0,
                device_id: 0,
                subsystem_id: 0,
                id: field(&format!("0000{id}")),
            },
        )
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetCudaComputeCapability(handle: Handle, major: Out<c_int>, minor: Out<c_int>) -> c_int {
    status(|| {
        let capability = device(handle)?.card.capability;
        give(major, capability.major.into())?;
        give(minor, capability.minor.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_those_of_the_nearest_version() {
        assert_eq!((driver([12, 4]), driver([12, 7]), driver([13, 0])), ("550.54.14", "560.28.03", "580.65.06"));
        assert_eq!((driver([11, 8]), driver([14, 0])), ("550.54.14", "590.44.01"));
    }

    #[test]
    fn a_card_has_one_identity() {
        let handle = super::super::tests::handle(1);
        let mut index = 7;
        let mut info =
            PciInfo { legacy_id: [0; 16], domain: 7, bus: 0, device: 7, device_id: 0, subsystem_id: 0, id: [0; 32] };
        assert_eq!(nvmlDeviceGetIndex(handle, Out::to(&mut index)), 0);
        assert_eq!(nvmlDeviceGetPciInfo_v3(handle, Out::to(&mut info)), 0);
        assert_eq!((index, info.bus), (1, 2));
        assert!(info.id.starts_with(b"00000000:02:00.0\0"));
    }
}
