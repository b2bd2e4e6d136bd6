//! An audit library of the dynamic loader, which finds the virtual GPU for programs that would find NVIDIA's libraries.
//!
//! The loader asks the library in `LD_AUDIT` about each path at which it looks for a library (`man 7 rtld-audit`).
//! A path whose last part is the name of one of CUDA's libraries is answered with the link of that name in the folder
//! of the virtual GPU, so neither `RPATH` nor an absolute path leads to NVIDIA's files.
//! Child processes inherit the variable.
//!
//! The library is separate from the virtual GPU because the loader gives it a namespace with a C library of its own.
//!
//! Invariant: it opens, reads and changes nothing; a name that is not in `sonames.txt` is left to the loader.

mod answers;

use std::ffi::{CStr, c_char, c_uint};

use answers::Answers;

/// Tells the loader which version of the interface this library was made for: whichever the loader has.
///
/// Only the two oldest functions of the interface are used, which no version has changed.
#[unsafe(no_mangle)]
pub extern "C" fn la_version(version: c_uint) -> c_uint {
    version
}

/// Answers a path at which the loader looks for a library with the path that it is to open.
///
/// # Safety
/// `name` is a string that ends in a zero byte, as the loader passes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn la_objsearch(name: *const c_char, _cookie: *mut usize, _origin: c_uint) -> *const c_char {
    // SAFETY: the loader passes a string that ends in a zero byte.
    let asked = unsafe { CStr::from_ptr(name) };
    Answers::get().find(asked).map_or(name, CStr::as_ptr)
}
