//! What CUDA keeps per thread: the current device, the last error, the configuration of the next launch.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use crate::error::Error;

/// The size and place of a launch, between `<<<...>>>` and the call of the kernel's host function.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LaunchConfig {
    /// Blocks.
    pub(crate) grid: [u32; 3],
    /// Threads of a block.
    pub(crate) block: [u32; 3],
    /// Dynamic shared memory, in bytes.
    pub(crate) shared_bytes: usize,
    /// The stream's handle.
    pub(crate) stream: usize,
}

/// Which calls a thread refuses itself while a stream is captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum CaptureMode {
    /// Unsafe calls are refused while any thread captures.
    Global = 0,
    /// Unsafe calls are refused while this thread captures.
    ThreadLocal = 1,
    /// Nothing is refused.
    Relaxed = 2,
}

impl CaptureMode {
    /// The mode of that number.
    pub(crate) fn from_code(code: c_int) -> Option<Self> {
        [Self::Global, Self::ThreadLocal, Self::Relaxed].into_iter().find(|mode| *mode as c_int == code)
    }
}

thread_local! {
    static DEVICE: Cell<usize> = const { Cell::new(0) };
    static LAST_ERROR: Cell<c_int> = const { Cell::new(0) };
    static LAST_KERNEL: Cell<*const c_void> = const { Cell::new(std::ptr::null()) };
    static PENDING_LAUNCH: Cell<Option<LaunchConfig>> = const { Cell::new(None) };
    static CAPTURE_MODE: Cell<CaptureMode> = const { Cell::new(CaptureMode::Global) };
}

/// The ordinal of the current device.
pub(crate) fn device() -> usize {
    DEVICE.get()
}

/// Makes a device current; the caller has checked that it exists.
pub(crate) fn set_device(ordinal: usize) {
    DEVICE.set(ordinal);
}

/// Remembers a failure for `cudaGetLastError`.
pub(crate) fn set_last_error(error: Error) {
    LAST_ERROR.set(error.code());
}

/// The last failure's code; it stays.
pub(crate) fn peek_last_error() -> c_int {
    LAST_ERROR.get()
}

/// The last failure's code; it is forgotten.
pub(crate) fn take_last_error() -> c_int {
    LAST_ERROR.replace(0)
}

/// The kernel that this thread launched last: the address of its host function.
pub(crate) fn last_kernel() -> *const c_void {
    LAST_KERNEL.get()
}

/// Remembers a launch.
pub(crate) fn set_last_kernel(kernel: *const c_void) {
    LAST_KERNEL.set(kernel);
}

/// Keeps a configuration for the launch that follows.
pub(crate) fn push_launch(config: LaunchConfig) {
    PENDING_LAUNCH.set(Some(config));
}

/// The configuration that was kept.
pub(crate) fn pop_launch() -> Option<LaunchConfig> {
    PENDING_LAUNCH.take()
}

/// How this thread behaves while streams are captured.
pub(crate) fn capture_mode() -> CaptureMode {
    CAPTURE_MODE.get()
}

/// Sets how this thread behaves while streams are captured, and returns what it was.
pub(crate) fn exchange_capture_mode(mode: CaptureMode) -> CaptureMode {
    CAPTURE_MODE.replace(mode)
}
