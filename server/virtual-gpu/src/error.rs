//! Defines CUDA's error codes, which the runtime and the driver share, with their names and texts.

use std::ffi::{CStr, c_int};

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Row of the error table: code, runtime's name, driver's name, and the text that both share.
struct Row(c_int, &'static CStr, &'static CStr, &'static CStr);

/// Defines the errors that the virtual GPU can return, and the table of their names.
macro_rules! errors {
    { $($name:ident = $code:literal, $runtime:literal, $driver:literal, $text:literal;)* } => {
        /// A CUDA error.
        #[allow(dead_code, reason = "801 comes from functions that are not modelled, as a number")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(i32)]
        pub(crate) enum Error {
            $($name = $code,)*
        }

        const TABLE: &[Row] = &[$(Row($code, $runtime, $driver, $text),)*];
    };
}

errors! {
    InvalidValue = 1, c"cudaErrorInvalidValue", c"CUDA_ERROR_INVALID_VALUE", c"invalid argument";
    OutOfMemory = 2, c"cudaErrorMemoryAllocation", c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory";
    NotInitialized = 3, c"cudaErrorInitializationError", c"CUDA_ERROR_NOT_INITIALIZED", c"initialization error";
    InvalidSymbol = 13, c"cudaErrorInvalidSymbol", c"cudaErrorInvalidSymbol", c"invalid device symbol";
    InvalidMemcpyDirection = 21, c"cudaErrorInvalidMemcpyDirection", c"cudaErrorInvalidMemcpyDirection",
        c"invalid copy direction for memcpy";
    MissingConfiguration = 52, c"cudaErrorMissingConfiguration", c"cudaErrorMissingConfiguration",
        c"__global__ function call is not configured";
    NoDevice = 100, c"cudaErrorNoDevice", c"CUDA_ERROR_NO_DEVICE", c"no CUDA-capable device is detected";
    InvalidDevice = 101, c"cudaErrorInvalidDevice", c"CUDA_ERROR_INVALID_DEVICE", c"invalid device ordinal";
    InvalidContext = 201, c"cudaErrorDeviceUninitialized", c"CUDA_ERROR_INVALID_CONTEXT", c"invalid device context";
    OperatingSystem = 304, c"cudaErrorOperatingSystem", c"CUDA_ERROR_OPERATING_SYSTEM",
        c"OS call failed or operation not supported on this OS";
    InvalidHandle = 400, c"cudaErrorInvalidResourceHandle", c"CUDA_ERROR_INVALID_HANDLE", c"invalid resource handle";
    NotFound = 500, c"cudaErrorSymbolNotFound", c"CUDA_ERROR_NOT_FOUND", c"named symbol not found";
    NotReady = 600, c"cudaErrorNotReady", c"CUDA_ERROR_NOT_READY", c"device not ready";
    PeerAccessAlreadyEnabled = 704, c"cudaErrorPeerAccessAlreadyEnabled", c"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
        c"peer access is already enabled";
    PeerAccessNotEnabled = 705, c"cudaErrorPeerAccessNotEnabled", c"CUDA_ERROR_PEER_ACCESS_NOT_ENABLED",
        c"peer access has not been enabled";
    HostMemoryAlreadyRegistered = 712, c"cudaErrorHostMemoryAlreadyRegistered",
        c"CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", c"part or all of the requested memory range is already mapped";
    HostMemoryNotRegistered = 713, c"cudaErrorHostMemoryNotRegistered", c"CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
        c"pointer does not correspond to a registered memory region";
    NotPermitted = 800, c"cudaErrorNotPermitted", c"CUDA_ERROR_NOT_PERMITTED", c"operation not permitted";
    NotSupported = 801, c"cudaErrorNotSupported", c"CUDA_ERROR_NOT_SUPPORTED", c"operation not supported";
    CaptureUnsupported = 900, c"cudaErrorStreamCaptureUnsupported", c"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
        c"operation not permitted when stream is capturing";
    CaptureInvalidated = 901, c"cudaErrorStreamCaptureInvalidated", c"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
        c"operation failed due to a previous error during capture";
    CaptureMerge = 902, c"cudaErrorStreamCaptureMerge", c"CUDA_ERROR_STREAM_CAPTURE_MERGE",
        c"operation would result in a merge of separate capture sequences";
    CaptureUnmatched = 903, c"cudaErrorStreamCaptureUnmatched", c"CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
        c"capture was not ended in the same stream as it began";
    CaptureUnjoined = 904, c"cudaErrorStreamCaptureUnjoined", c"CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
        c"capturing stream has unjoined work";
    CaptureIsolation = 905, c"cudaErrorStreamCaptureIsolation", c"CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
        c"dependency created on uncaptured work in another stream";
    CapturedEvent = 907, c"cudaErrorCapturedEvent", c"CUDA_ERROR_CAPTURED_EVENT",
        c"operation not permitted on an event last recorded in a capturing stream";
    CaptureWrongThread = 908, c"cudaErrorStreamCaptureWrongThread", c"CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
        c"attempt to terminate a thread-local capture sequence from another thread";
}

impl Error {
    /// Returns the number that crosses the C interface.
    pub(crate) const fn code(self) -> c_int {
        self as c_int
    }
}

/// Converts a result to CUDA's error code; 0 is success.
pub(crate) fn code(result: Result<()>) -> c_int {
    result.map_or_else(Error::code, |()| 0)
}

fn row(code: c_int) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.0 == code)
}

/// Returns the runtime's name of an error code.
pub(crate) fn runtime_name(code: c_int) -> &'static CStr {
    if code == 0 { c"cudaSuccess" } else { row(code).map_or(c"unrecognized error code", |row| row.1) }
}

/// Returns the driver's name of an error code, or `None` for an unknown code.
pub(crate) fn driver_name(code: c_int) -> Option<&'static CStr> {
    if code == 0 { Some(c"CUDA_SUCCESS") } else { row(code).map(|row| row.2) }
}

/// Returns the text of an error code, or `None` for an unknown code.
pub(crate) fn text(code: c_int) -> Option<&'static CStr> {
    if code == 0 { Some(c"no error") } else { row(code).map(|row| row.3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_both_interfaces() {
        assert_eq!(runtime_name(Error::OutOfMemory.code()), c"cudaErrorMemoryAllocation");
        assert_eq!(driver_name(Error::OutOfMemory.code()), Some(c"CUDA_ERROR_OUT_OF_MEMORY"));
        assert_eq!(text(2), Some(c"out of memory"));
        assert_eq!(text(0), Some(c"no error"));
        assert_eq!(runtime_name(77_777), c"unrecognized error code");
        assert_eq!(text(77_777), None);
    }

    #[test]
    fn codes_rise_and_texts_are_there() {
        assert!(TABLE.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(TABLE.iter().all(|row| !row.1.is_empty() && !row.2.is_empty() && !row.3.is_empty()));
    }
}
