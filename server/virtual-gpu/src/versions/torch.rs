//! Finds the folder of the PyTorch that this process has loaded.

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Library of PyTorch that each build with CUDA has, in `torch/lib/`.
const LIBRARY: &str = "libc10_cuda.so";

/// Returns the folder `torch`, or `None` if PyTorch is not loaded.
pub(crate) fn folder() -> Option<PathBuf> {
    let mut found: Option<PathBuf> = None;
    // SAFETY: `look` only reads the structure that it is given, and writes through the pointer to `found`, which
    // outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
    Some(found?.parent()?.parent()?.to_owned())
}

/// Notes the path of the library; called by the loader for each object until it returns another number than 0.
unsafe extern "C" fn look(object: *mut libc::dl_phdr_info, _size: libc::size_t, found: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid structure, whose name is null or a C string.
    let name = unsafe { (*object).dlpi_name };
    if name.is_null() {
        return 0;
    }
    // SAFETY: as above.
    let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes()));
    if path.file_name() != Some(OsStr::new(LIBRARY)) {
        return 0;
    }
    // SAFETY: `folder` passes a pointer to an `Option<PathBuf>` that nothing else uses during the call.
    unsafe { *found.cast::<Option<PathBuf>>() = Some(path.to_owned()) };
    1
}
