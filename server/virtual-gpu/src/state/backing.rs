//! Reserves device addresses in the host's address space; in shadow mode they hold what small copies left.

use std::ffi::c_void;

use crate::config::Values;

/// Start of the first device's addresses; each device has a range of [`DEVICE_RANGE`] bytes.
///
/// It is fixed, so that a program sees the same addresses in each run, and far from the addresses at which Linux puts
/// programs and libraries.
const DEVICES_START: u64 = 0x1000_0000_0000;

/// Size of the address range of one device, in bytes: 1 TiB.
const DEVICE_RANGE: u64 = 1 << 40;

/// Start and end of the addresses for virtual memory management, behind which memory is mapped later: 32 TiB.
pub(crate) const VIRTUAL_RANGE: (u64, u64) = (0x5800_0000_0000, 0x7800_0000_0000);

/// Returns the start and the end of a device's addresses.
pub(crate) const fn device_range(ordinal: usize) -> (u64, u64) {
    let start = DEVICES_START + ordinal as u64 * DEVICE_RANGE;
    (start, start + DEVICE_RANGE)
}

/// Returns the ordinal of the device whose range holds an address, without checking that the device exists.
pub(crate) fn device_of(address: u64) -> Option<usize> {
    let distance = address.checked_sub(DEVICES_START)?;
    usize::try_from(distance / DEVICE_RANGE).ok()
}

/// Reserves a range, so that the host's own memory never lies in it; returns false if that fails.
///
/// In shadow mode the range is writable, and takes memory only where it is written.
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
    // SAFETY: the range was mapped just now. It is left out of core dumps, which would have terabytes.
    unsafe { libc::madvise(place, length, libc::MADV_DONTDUMP) };
    true
}

/// Clears a range of whole pages and returns its memory to the host.
pub(crate) fn forget(start: u64, size_bytes: u64) {
    // SAFETY: the range was reserved by this module and belongs to no Rust object.
    unsafe { libc::madvise(start as *mut c_void, size_bytes as usize, libc::MADV_DONTNEED) };
}

/// Clears the whole host pages inside a range; parts of pages at its ends keep their content.
pub(crate) fn forget_inside(start: u64, size_bytes: u64) {
    const HOST_PAGE: u64 = 4096;
    let first = start.next_multiple_of(HOST_PAGE);
    let last = (start + size_bytes) / HOST_PAGE * HOST_PAGE;
    if first < last {
        forget(first, last - first);
    }
}
