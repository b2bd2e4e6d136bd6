//! Carries out copies and fills, as far as values are kept.
//!
//! Host memory is always copied; device memory reads as zeros. In shadow mode small copies to a device are kept, so
//! that a program can read back what it put there; kernels still change nothing, so a value can be stale.

use std::ffi::c_void;
use std::ptr;

use super::backing;
use super::comparison::last_answer;
use super::kernel::reduction_answer;
use super::machine::{Machine, Place, machine};
use super::thread::{last_kernel, set_last_kernel};
use super::told;
use crate::config::Values;

/// Largest copy or fill that is kept in shadow mode, in bytes.
const SMALL: usize = 64 << 10;

/// Carries out a copy, as far as values are kept.
pub(crate) fn copy(machine: &Machine, to: *mut c_void, from: *const c_void, size: usize) {
    let is_device = |place| matches!(place, Place::Device(_));
    let (to_device, from_device) = (is_device(machine.place(to as usize)), is_device(machine.place(from as usize)));
    let is_kept = machine.values == Values::Shadow && size <= SMALL;
    if size == 0 || to.is_null() || from.is_null() {
        return;
    }
    if to_device && !(from_device && size == 1) {
        // A byte that is read next is not the result of the last kernel, unless this copy only moves that byte.
        set_last_kernel(ptr::null());
    }
    match (from_device, to_device) {
        // SAFETY: both are host memory, for which the caller guarantees `size` bytes, or device memory in shadow mode,
        // all of which is readable and writable. The ranges may overlap.
        (false, false) => unsafe { ptr::copy(from.cast::<u8>(), to.cast::<u8>(), size) },
        // SAFETY: as above.
        (_, true) if is_kept => unsafe { ptr::copy(from.cast::<u8>(), to.cast::<u8>(), size) },
        (_, true) => {}
        (true, false) if !is_kept && size > SMALL && machine.pinned().is_own(to as usize, size) => clear(to, size),
        (true, false) => read(to, from, size, is_kept),
    }
}

/// Copies from one device address to another, as far as values are kept, for a collective of a single process.
pub(crate) fn mirror(to: *mut c_void, from: *const c_void, size: usize) {
    if let Ok(machine) = machine() {
        copy(machine, to, from, size);
    }
}

/// Carries out a fill, as far as values are kept: large fills of device memory clear it, whatever the value.
pub(crate) fn fill(machine: &Machine, to: *mut c_void, value: u8, size: usize) {
    set_last_kernel(ptr::null());
    match machine.place(to as usize) {
        Place::Device(_) if machine.values == Values::Zero => {}
        // Writing a large fill would take host memory, so its pages are given back and read as zeros.
        Place::Device(_) if size > SMALL => backing::forget_inside(to as u64, size as u64),
        // SAFETY: host memory for which the caller guarantees `size` bytes, or device memory in shadow mode.
        _ => unsafe { ptr::write_bytes(to.cast::<u8>(), value, size) },
    }
}

/// Fills pinned memory that was allocated here with zeros; whole pages are given back instead of written.
fn clear(to: *mut c_void, size: usize) {
    const HOST_PAGE: usize = 4096;
    let (start, end) = (to as usize, to as usize + size);
    let (first, last) = (start.next_multiple_of(HOST_PAGE), end / HOST_PAGE * HOST_PAGE);
    // SAFETY: the caller guarantees that `size` bytes can be written, which are more than two pages.
    unsafe {
        ptr::write_bytes(to.cast::<u8>(), 0, first - start);
        ptr::write_bytes(last as *mut u8, 0, end - last);
    }
    backing::forget_inside(start as u64, size as u64);
}

/// Copies from a device to the host: an answer given in advance, or kept values, or zeros.
///
/// A single byte is the result of the last kernel: known of a comparison or a reduction, and false of any other. Kept
/// memory has what another tensor left there.
fn read(to: *mut c_void, from: *const c_void, size: usize, is_kept: bool) {
    if let Some(answer) = told::next(size) {
        // SAFETY: the caller guarantees that `size` bytes can be written, which is the answer's length.
        unsafe { ptr::copy_nonoverlapping(answer.as_ptr(), to.cast::<u8>(), size) };
        return;
    }
    let kernel = Some(last_kernel()).filter(|kernel| size == 1 && !kernel.is_null());
    let result = kernel.map(|kernel| last_answer().or_else(|| reduction_answer(kernel)).unwrap_or(0));
    // SAFETY: the caller guarantees that `size` bytes can be written; device memory is readable where it is kept.
    unsafe {
        if is_kept {
            ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), size);
        } else {
            ptr::write_bytes(to.cast::<u8>(), 0, size);
        }
        if let Some(byte) = result {
            to.cast::<u8>().write(byte);
        }
    }
}
