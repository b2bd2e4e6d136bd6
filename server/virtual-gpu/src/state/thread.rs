//! Keeps CUDA's state of a thread: current device, last error, last kernel and pending launch configuration.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use crate::error::Error;

/// Launch configuration, kept between `<<<...>>>` and the call of the kernel's host function.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LaunchConfig {
    /// Number of blocks in each dimension.
    pub(crate) grid: [u32; 3],
    /// Number of threads of a block in each dimension.
    pub(crate) block: [u32; 3],
    /// Dynamic shared memory, in bytes.
    pub(crate) shared_bytes: usize,
    pub(crate) stream: usize,
}

/// Restriction of unsafe calls during a capture (`cudaStreamCaptureMode`); captures and threads have one each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum CaptureMode {
    /// Unsafe calls are refused while any thread captures in this mode or this thread captures thread-locally.
    Global = 0,
    /// Unsafe calls are refused while this thread captures in a mode other than `Relaxed`.
    ThreadLocal = 1,
    /// Unsafe calls are not refused.
    Relaxed = 2,
}

impl CaptureMode {
    /// Returns the mode of a number in `cudaStreamCaptureMode`.
    pub(crate) fn from_code(code: c_int) -> Option<Self> {
        [Self::Global, Self::ThreadLocal, Self::Relaxed].into_iter().find(|mode| *mode as c_int == code)
    }
}

thread_local! {
    static DEVICE: Cell<usize> = const { Cell::new(0) };
    static LAST_ERROR: Cell<c_int> = const { Cell::new(0) };
    static LAST_KERNEL: Cell<*const c_void> = const { Cell::new(std::ptr::null()) };
    static PENDING_LAUNCH: Cell<Option<LaunchConfig>> = const { Cell::new(None) };
    static POLLED: Cell<(u64, u32)> = const { Cell::new((0, 0)) };
    static CAPTURE_MODE: Cell<CaptureMode> = const { Cell::new(CaptureMode::Global) };
}

/// Returns the ordinal of the current device.
pub(crate) fn device() -> usize {
    DEVICE.get()
}

/// Makes a device current; the caller has to check that it exists.
pub(crate) fn set_device(ordinal: usize) {
    DEVICE.set(ordinal);
}

/// Stores an error for `cudaGetLastError`.
pub(crate) fn set_last_error(error: Error) {
    LAST_ERROR.set(error.code());
}

/// Returns the code of the last error without clearing it.
pub(crate) fn peek_last_error() -> c_int {
    LAST_ERROR.get()
}

/// Returns the code of the last error and clears it.
pub(crate) fn take_last_error() -> c_int {
    LAST_ERROR.replace(0)
}

/// Returns the kernel that this thread launched last, as the address of its host function.
pub(crate) fn last_kernel() -> *const c_void {
    LAST_KERNEL.get()
}

/// Stores the kernel that this thread launched last; null makes the next read of a byte ignore it.
pub(crate) fn set_last_kernel(kernel: *const c_void) {
    LAST_KERNEL.set(kernel);
}

/// Notes that work was not done at a tick; returns true if this thread waits by asking again and again.
pub(crate) fn polls_on(tick: u64) -> bool {
    /// Queries without a launch between them, as no program makes that goes on meanwhile.
    const MOST: u32 = 16;
    let (before, count) = POLLED.get();
    let count = if before == tick { count + 1 } else { 1 };
    POLLED.set((tick, count));
    count > MOST
}

/// Stores the configuration of the launch that follows.
pub(crate) fn push_launch(config: LaunchConfig) {
    PENDING_LAUNCH.set(Some(config));
}

/// Takes the configuration that [`push_launch`] stored.
pub(crate) fn pop_launch() -> Option<LaunchConfig> {
    PENDING_LAUNCH.take()
}

/// Returns the capture mode of this thread.
pub(crate) fn capture_mode() -> CaptureMode {
    CAPTURE_MODE.get()
}

/// Sets the capture mode of this thread and returns the previous one.
pub(crate) fn exchange_capture_mode(mode: CaptureMode) -> CaptureMode {
    CAPTURE_MODE.replace(mode)
}
