//! The host's side of device addresses: they are reserved, and in shadow mode they hold what small copies left.

use std::ffi::c_void;

use crate::config::Values;

/// The first device's addresses begin here; each has [`DEVICE_RANGE`] of its own.
///
/// Fixed, so that the same program sees the same addresses again; far from where Linux puts programs and libraries.
const DEVICES_START: u64 = 0x1000_0000_0000;

/// The addresses of one device: 1 TiB.
const DEVICE_RANGE: u64 = 1 << 40;

/// Addresses that are reserved without memory, for what is mapped later: 32 TiB.
pub(crate) const VIRTUAL_RANGE: (u64, u64) = (0x5800_0000_0000, 0x7800_0000_0000);

/// The addresses of a device, from start to end.
pub(crate) const fn device_range(ordinal: usize) -> (u64, u64) {
    let start = DEVICES_START + ordinal as u64 * DEVICE_RANGE;
    (start, start + DEVICE_RANGE)
}

/// The device whose addresses an address is one of, were there so many.
pub(crate) fn device_of(address: u64) -> Option<usize> {
    let distance = address.checked_sub(DEVICES_START)?;
    usize::try_from(distance / DEVICE_RANGE).ok()
}

/// Reserves a range, so that the host's own memory never lies in it.
///
/// In shadow mode the range can be written, and costs memory only where it is.
pub(crate) fn reserve((start, end): (u64, u64), values: Values) -> bool {
    let protection = match values {
        Values::Zero => libc::PROT_NONE,
        Values::Shadow => libc::PROT_READ | libc::PROT_WRITE,
    };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let place = start as *mut c_void;
    let length = (end - start) as usize;
    // SAFETY: a mapping that replaces none; its memory is used through raw pointers only.
    let mapped = unsafe { libc::mmap(place, length, protection, flags, -1, 0) };
    if mapped != place {
        crate::log::line(format_args!(
            "the addresses from {start:#x} to {end:#x} could not be reserved: is there a limit on address space, or a \
             second copy of the library in the process?"
        ));
        return false;
    }
    // SAFETY: the range was mapped just now. A core dump of terabytes helps nobody.
    unsafe { libc::madvise(place, length, libc::MADV_DONTDUMP) };
    true
}

/// Forgets what a range held, and returns its memory to the host.
pub(crate) fn forget(start: u64, size_bytes: u64) {
    // SAFETY: the range was reserved by this module and belongs to no Rust object.
    unsafe { libc::madvise(start as *mut c_void, size_bytes as usize, libc::MADV_DONTNEED) };
}

/// Forgets the whole pages of the host inside a range; what is left at its ends stays as it is.
pub(crate) fn forget_inside(start: u64, size_bytes: u64) {
    const HOST_PAGE: u64 = 4096;
    let first = start.next_multiple_of(HOST_PAGE);
    let last = (start + size_bytes) / HOST_PAGE * HOST_PAGE;
    if first < last {
        forget(first, last - first);
    }
}
