//! Defines cuDNN's status codes and the sizes of its data types.

use std::ffi::{c_char, c_int};

use crate::arrays::OutArray;

/// `CUDNN_STATUS_SUCCESS`.
pub(super) const SUCCESS: c_int = 0;

/// `CUDNN_STATUS_NOT_INITIALIZED`.
pub(super) const NOT_INITIALIZED: c_int = 1001;

/// `CUDNN_STATUS_BAD_PARAM`.
pub(super) const BAD_PARAMETER: c_int = 2000;

/// `CUDNN_STATUS_BAD_PARAM_NULL_POINTER`.
pub(super) const NULL_POINTER: c_int = 2002;

/// `CUDNN_STATUS_NOT_SUPPORTED`.
pub(super) const NOT_SUPPORTED: c_int = 3000;

/// Returns the size of an element of a `cudnnDataType_t`, in bytes.
pub(super) fn element_bytes(data_type: c_int) -> Option<usize> {
    match data_type {
        1 | 10 | 20 => Some(8), // double, int64, complex of floats
        0 | 4 | 19 => Some(4),  // float, int32, uint32
        2 | 9 => Some(2),       // half, bfloat16
        3 | 6 | 11..=13 => Some(1),
        _ => None,
    }
}

#[unsafe(no_mangle)]
extern "C" fn cudnnGetErrorString(status: c_int) -> *const c_char {
    let text = match status {
        SUCCESS => c"CUDNN_STATUS_SUCCESS",
        BAD_PARAMETER => c"CUDNN_STATUS_BAD_PARAM",
        NULL_POINTER => c"CUDNN_STATUS_BAD_PARAM_NULL_POINTER",
        NOT_SUPPORTED => c"CUDNN_STATUS_NOT_SUPPORTED",
        _ => c"CUDNN_STATUS_UNKNOWN",
    };
    text.as_ptr()
}

/// Writes an empty text as the last error, because errors are described in the log.
#[unsafe(no_mangle)]
extern "C" fn cudnnGetLastErrorString(message: OutArray<u8>, size: usize) {
    if size > 0 {
        message.put(&[0]);
    }
}
