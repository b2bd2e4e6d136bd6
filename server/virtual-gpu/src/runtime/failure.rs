//! Returns the last error, and the names and texts of errors.

use std::ffi::{c_char, c_int};

use crate::error::{runtime_name, text};
use crate::state::thread;
use crate::stub::functions;

functions! {
    cudaGetLastError() = thread::take_last_error();
    cudaPeekAtLastError() = thread::peek_last_error();
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGetErrorName(code: c_int) -> *const c_char {
    runtime_name(code).as_ptr()
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaGetErrorString(code: c_int) -> *const c_char {
    text(code).unwrap_or(c"unrecognized error code").as_ptr()
}
