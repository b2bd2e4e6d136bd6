//! Looks up functions of the driver by name, for programs that do not link against it.

use std::ffi::{CString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr;
use std::sync::OnceLock;

use super::{give, status};
use crate::error::{Error, Result};
use crate::ffi::{Out, text};
use crate::stub::unmodelled;

/// Success in `cudaDriverEntryPointQueryResult` and `CUdriverProcAddressQueryResult`.
const FOUND: c_int = 0;

// This function is returned for names that are not exported.
unmodelled! { "cuda", 801 => cuUnknownFunction }

/// Returns the loader's handle of this library, or null if the loader does not find it.
fn own_library() -> *mut c_void {
    static LIBRARY: OnceLock<usize> = OnceLock::new();
    let find = || {
        // SAFETY: an all-zero `Dl_info` is valid, the loader fills it, and its path is a C string that lives as long as
        // the library; `RTLD_NOLOAD` only finds what is loaded.
        unsafe {
            let mut found: libc::Dl_info = std::mem::zeroed();
            if libc::dladdr(own_library as *const c_void, &raw mut found) == 0 {
                return 0;
            }
            libc::dlopen(found.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD) as usize
        }
    };
    *LIBRARY.get_or_init(find) as *mut c_void
}

/// Returns the address that this library exports under a name, or null.
fn exported(name: &str) -> *mut c_void {
    let (library, Ok(name)) = (own_library(), CString::new(name)) else { return ptr::null_mut() };
    if library.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: the library is loaded, and the name is a C string.
    unsafe { libc::dlsym(library, name.as_ptr()) }
}

/// Returns the function of a name: the one with the suffix `_v2` if there is one.
///
/// For a name that is not exported it returns a function that fails, because programs look up everything that they
/// might need and do not always check for null.
///
/// # Errors
/// Returns "invalid value" for a name that does not begin with `cu`.
fn find(name: &str) -> Result<*mut c_void> {
    if !name.starts_with("cu") {
        return Err(Error::InvalidValue);
    }
    let versions = [format!("{name}_v2"), name.to_owned()];
    let found = versions.iter().map(|name| exported(name)).find(|found| !found.is_null());
    Ok(found.unwrap_or_else(|| {
        crate::log::line(format_args!(
            "{name} (cuda) was requested but is not implemented; it would fail with status 801"
        ));
        cuUnknownFunction as *mut c_void
    }))
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGetDriverEntryPointByVersion(
    name: *const c_char,
    function: Out<*mut c_void>,
    _version: c_uint,
    _flags: c_ulonglong,
    found: Out<c_int>,
) -> c_int {
    found.put_if_wanted(FOUND);
    status(|| give(function, find(text(name))?))
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGetDriverEntryPoint(
    name: *const c_char,
    function: Out<*mut c_void>,
    _flags: c_ulonglong,
    found: Out<c_int>,
) -> c_int {
    found.put_if_wanted(FOUND);
    status(|| give(function, find(text(name))?))
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuGetProcAddress_v2(
    name: *const c_char,
    function: Out<*mut c_void>,
    _version: c_int,
    _flags: c_ulonglong,
    found: Out<c_int>,
) -> c_int {
    found.put_if_wanted(FOUND);
    status(|| give(function, find(text(name))?))
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuGetProcAddress(
    name: *const c_char,
    function: Out<*mut c_void>,
    _version: c_int,
    _flags: c_ulonglong,
) -> c_int {
    status(|| give(function, find(text(name))?))
}
