//! Looks up functions of the driver by name, for programs that do not link against it.

use std::ffi::{CString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::{give, status};
use crate::error::{Error, Result};
use crate::ffi::{Out, text};
use crate::stub::functions;
use crate::unsupported::Unsupported;

/// `CUDA_ERROR_NOT_SUPPORTED`.
const NOT_SUPPORTED: c_int = 801;

/// Success in `cudaDriverEntryPointQueryResult` and `CUdriverProcAddressQueryResult`.
const FOUND: c_int = 0;

/// Number of unknown functions that are told apart.
const UNKNOWN: usize = 32;

/// Unknown functions that were looked up, by the number of the function that a program received for each.
static NAMES: [OnceLock<Unsupported>; UNKNOWN] = [const { OnceLock::new() }; UNKNOWN];

/// Fails in place of an unknown function, which it names.
extern "C" fn fail<const NUMBER: usize>() -> c_int {
    /// Function of a program that calls more unknown functions than are told apart.
    static OTHER: Unsupported = Unsupported::new("cuUnknownFunction", "cuda", NOT_SUPPORTED);
    NAMES.get(NUMBER).and_then(OnceLock::get).unwrap_or(&OTHER).call()
}

/// Functions that fail, each in place of another one.
macro_rules! failing {
    ($($number:literal)*) => { [$(fail::<$number>),*] };
}

const FAILING: [extern "C" fn() -> c_int; UNKNOWN + 1] =
    failing![0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32];

/// Returns a function that fails in place of an unknown one; a name always has the same one.
fn failing(name: &str) -> *mut c_void {
    static LOOKED_UP: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut looked_up = LOOKED_UP.lock().unwrap_or_else(PoisonError::into_inner);
    let number = looked_up.iter().position(|known| known == name).unwrap_or_else(|| {
        looked_up.push(name.to_owned());
        looked_up.len() - 1
    });
    if let Some(place) = NAMES.get(number) {
        place.get_or_init(|| Unsupported::new(String::leak(name.to_owned()), "cuda", NOT_SUPPORTED));
    }
    FAILING[number.min(UNKNOWN)] as *mut c_void
}

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
    Ok(found.unwrap_or_else(|| failing(name)))
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

functions! {
    cuGetProcAddress(name: *const c_char, function: Out<*mut c_void>, _version: c_int, _flags: c_ulonglong) =>
        give(function, find(text(name))?);
}
