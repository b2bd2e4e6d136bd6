//! What copies move: everything between host and host, and as much of the device as is kept.
//!
//! A device's memory reads as zeros. In shadow mode small copies are kept, so that what a program puts on the device
//! can be read back; kernels still change nothing, so a value can be stale.

use std::ffi::c_void;
use std::ptr;

use super::backing;
use super::comparison::last_answer;
use super::kernel::reduction_answer;
use super::machine::{Machine, Place, machine};
use super::thread::{last_kernel, set_last_kernel};
use crate::config::Values;

/// Copies up to this size are kept in shadow mode, in bytes.
const SMALL: usize = 64 << 10;

/// Carries out a copy, as far as there is something to move.
pub(crate) fn copy(machine: &Machine, to: *mut c_void, from: *const c_void, size: usize) {
    let is_device = |place| matches!(place, Place::Device(_));
    let (to_device, from_device) = (is_device(machine.place(to as usize)), is_device(machine.place(from as usize)));
    let is_kept = machine.values == Values::Shadow && size <= SMALL;
    if size == 0 || to.is_null() || from.is_null() {
        return;
    }
    if to_device && !(from_device && size == 1) {
        // What is read next is not the answer of the kernel before, unless it was moved on.
        set_last_kernel(ptr::null());
    }
    match (from_device, to_device) {
        // SAFETY: both are memory of the host, which the caller says holds `size` bytes; or of a device in shadow mode,
        // which is writable as a whole. The ranges may overlap.
        (false, false) => unsafe { ptr::copy(from.cast::<u8>(), to.cast::<u8>(), size) },
        // SAFETY: as above.
        (_, true) if is_kept => unsafe { ptr::copy(from.cast::<u8>(), to.cast::<u8>(), size) },
        (_, true) => {}
        (true, false) if !is_kept && size > SMALL && machine.pinned().is_own(to as usize, size) => clear(to, size),
        (true, false) => read(to, from, size, is_kept),
    }
}

/// Copies from one device address to another where values are kept: what a collective of one process does.
pub(crate) fn mirror(to: *mut c_void, from: *const c_void, size: usize) {
    if let Ok(machine) = machine() {
        copy(machine, to, from, size);
    }
}

/// Fills device memory where values are kept.
pub(crate) fn fill(machine: &Machine, to: *mut c_void, value: u8, size: usize) {
    set_last_kernel(ptr::null());
    match machine.place(to as usize) {
        Place::Device(_) if machine.values == Values::Zero => {}
        // A large fill with zeros would cost the memory that it clears.
        Place::Device(_) if size > SMALL => backing::forget_inside(to as u64, size as u64),
        // SAFETY: memory of the host that the caller says holds `size` bytes, or of a device in shadow mode.
        _ => unsafe { ptr::write_bytes(to.cast::<u8>(), value, size) },
    }
}

/// Fills pinned memory that was allocated here with zeros: its whole pages are given back instead of written.
fn clear(to: *mut c_void, size: usize) {
    const HOST_PAGE: usize = 4096;
    let (start, end) = (to as usize, to as usize + size);
    let (first, last) = (start.next_multiple_of(HOST_PAGE), end / HOST_PAGE * HOST_PAGE);
    // SAFETY: the caller says that `size` bytes can be written, more than two pages.
    unsafe {
        ptr::write_bytes(to.cast::<u8>(), 0, first - start);
        ptr::write_bytes(last as *mut u8, 0, end - last);
    }
    backing::forget_inside(start as u64, size as u64);
}

/// What the host finds on a device.
fn read(to: *mut c_void, from: *const c_void, size: usize, is_kept: bool) {
    let is_answer = size == 1;
    // SAFETY: the caller says that `size` bytes can be written; device memory can be read where it is kept.
    unsafe {
        if is_kept {
            ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), size);
        } else {
            ptr::write_bytes(to.cast::<u8>(), 0, size);
        }
        if is_answer && last_answer().unwrap_or_else(|| reduction_answer(last_kernel())) == 1 {
            to.cast::<u8>().write(1);
        }
    }
}
